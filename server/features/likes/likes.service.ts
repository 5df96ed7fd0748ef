import { batchCalls } from '../../kernel/db/batch-calls.ts'
import { type Db, isRowId, type Queryable } from '../../kernel/db/database.ts'
import { AppError } from '../../kernel/errors/app-error.ts'
import {
  deletePosts,
  lockPostsOf,
  markMoved,
  selectMoving,
} from '../posts/hidden-posts.repository.ts'
import {
  addLikes,
  deleteLikesOf,
  LIKES_STEP,
  moveNextLikes,
  removeLikes,
} from './likes.repository.ts'

type DesiredLike = { postId: string; userId: string; isLiked: boolean }

/**
 * Makes the function that sets a like and resolves to the post's number of likes. Calls that like
 * one post while such a statement runs share the next one, and so do calls that take likes back:
 * the row of a popular post is locked and flushed once for all. It rejects with POST_NOT_FOUND.
 */
export function batchLikes(db: Db): (like: DesiredLike) => Promise<number> {
  return batchCalls((likes) => setLikes(db, likes), {
    keyOf: ({ postId, isLiked }) => `${postId} ${isLiked}`,
    failsAlone: true,
  })
}

async function setLikes(db: Db, likes: DesiredLike[]): Promise<number[]> {
  const { postId = '', isLiked = true } = likes[0] ?? {}
  const change = isLiked ? addLikes : removeLikes
  const userIds = [...new Set(likes.map(({ userId }) => userId))]
  const likesCount = isRowId(postId) ? await change(db, postId, userIds) : undefined
  if (likesCount === undefined) throw new AppError('POST_NOT_FOUND')
  return likes.map(() => likesCount)
}

/** Hides, shows or purges very many likes in steps. It may be interrupted and run twice at once. */
export async function moveLikes(db: Db, stopping?: Promise<never>): Promise<void> {
  for (const post of await selectMoving(db)) {
    let last: string | null = '0'
    while (last !== null) {
      const step: Promise<string | null> = moveNextLikes(db, post, last)
      last = await Promise.race([step, stopping ?? step])
    }
    if (post.kind === 'purge') await deletePosts(db, [post.id])
    else await markMoved(db, post)
  }
}

/** Erases some of a user's hidden posts with all their likes, or some of very many likes. */
export async function erasePostsOf(tx: Queryable, ownerId: string): Promise<number> {
  const ids = await lockPostsOf(tx, ownerId, 'hidden')
  const likes = await deleteLikesOf(tx, ids)
  if (likes < LIKES_STEP) await deletePosts(tx, ids)
  return likes + ids.length
}
