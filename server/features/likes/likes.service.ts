import { batchWrites, type Written } from '../../kernel/db/batch-writes.ts'
import { type Db, isRowId, type Queryable } from '../../kernel/db/database.ts'
import { AppError } from '../../kernel/errors/app-error.ts'
import {
  deletePosts,
  lockHiddenPostsOf,
  markExpired,
  markMoved,
  selectMoving,
} from '../posts/posts.service.ts'
import {
  addLikes,
  deleteLikesOf,
  LIKES_STEP,
  moveNextLikes,
  moveOwnLikes,
  removeLikes,
} from './likes.repository.ts'

// Other features call it as it is.
export { moveOwnLikes }

/** The desired state of a user's like of a post. */
export type DesiredLike = { userId: string; isLiked: boolean }
type LikeOfPost = DesiredLike & { postId: string }

/**
 * Makes a function that sets a user's like of a post and returns the post's number of likes afterwards. Calls that like one post
 * while a statement of such calls runs share the next one, so that the row of a popular post is locked and flushed once for all
 * of them, and so do calls that take likes back. The function rejects with POST_NOT_FOUND when there is no such post.
 */
export function batchLikes(db: Db): (postId: string, like: DesiredLike) => Promise<number> {
  const setLike = batchWrites({
    keyOf: ({ postId, isLiked }: LikeOfPost) => `${postId} ${isLiked}`,
    write: (likes: LikeOfPost[]) => setLikes(db, likes),
  })
  return (postId, like) => setLike({ postId, ...like })
}

/** Sets likes of one post, all to the same state. Returns its number of likes for each. */
async function setLikes(db: Db, likes: LikeOfPost[]): Promise<Written<number>> {
  const { postId = '', isLiked = true } = likes[0] ?? {}
  const change = isLiked ? addLikes : removeLikes
  const userIds = [...new Set(likes.map(({ userId }) => userId))]
  const set = isRowId(postId) ? await change(db, postId, userIds) : undefined
  if (!set) throw new AppError('POST_NOT_FOUND')
  return { results: likes.map(() => set.likesCount), isChanged: set.isChanged }
}

/**
 * Lets the likes of hidden and returned posts follow them, and removes those of deleted ones, some thousands in each transaction,
 * until there are none. It may be interrupted at any moment and may run twice at once: the next run finds what is left.
 */
export async function moveLikes(db: Db, stopping: Promise<never>): Promise<void> {
  for (const post of await selectMoving(db)) {
    let last: string | null = '0'
    while (last !== null) last = await Promise.race([moveNextLikes(db, post, last), stopping])
    if (post.goes === 'for good') await deletePosts(db, [post.id])
    else await markMoved(db, post)
  }
}

/** Deletes hidden posts for good whose time is up, with their likes in steps. */
export async function purgeExpired(db: Db): Promise<void> {
  await markExpired(db)
  await moveLikes(db, new Promise<never>(() => {}))
}

/**
 * Erases some of a user's hidden posts with all their likes or, where these are very many, some of the likes. Returns how many
 * rows it has erased. Posts and likes go together, so that no step looks at posts whose likes are gone.
 */
export async function erasePostsOf(tx: Queryable, ownerId: string): Promise<number> {
  const ids = await lockHiddenPostsOf(tx, ownerId)
  const likes = await deleteLikesOf(tx, ids)
  if (likes < LIKES_STEP) await deletePosts(tx, ids)
  return likes + ids.length
}
