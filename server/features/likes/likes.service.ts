import { postIdsOf } from '../../../contract/post-rules.ts'
import type { Post, PostPage } from '../../../contract/posts.ts'
import type { ViewerFlag } from '../../kernel/cache/response-cache.ts'
import { BatchedCalls } from '../../kernel/db/batch-calls.ts'
import { type Db, isRowId, type Queryable } from '../../kernel/db/database.ts'
import { AppError } from '../../kernel/errors/app-error.ts'
import type { Authenticator } from '../../kernel/http/route.ts'
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
  type Reader,
  removeLikes,
  selectLikedPosts,
} from './likes.repository.ts'

type DesiredLike = { postId: string; userId: string; isLiked: boolean }

/**
 * Makes the function that sets a like and resolves to the post's number of likes. Likes of one post
 * share statements, and so do unlikes: the row of a popular post is locked and flushed once for all.
 * It rejects with POST_NOT_FOUND.
 */
export function batchLikes(db: Db): (like: DesiredLike) => Promise<number> {
  const batches = new Map<string, BatchedCalls<DesiredLike, number>>()
  return async (like) => {
    const key = `${like.postId} ${like.isLiked}`
    const batch = batches.get(key) ?? new BatchedCalls((likes) => setLikes(db, likes), FAILS_ALONE)
    batches.set(key, batch)
    try {
      return await batch.call(like)
    } finally {
      if (batch.isIdle()) batches.delete(key)
    }
  }
}

const FAILS_ALONE = { failsAlone: true }

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

/** Makes the part of the cache that shows each viewer the own likes. */
export function createLikeFlag(db: Db, auth: Pick<Authenticator, 'isLive'>): ViewerFlag {
  const reads = new BatchedCalls(async (readers: Reader[]) => {
    const liked = await selectLikedPosts(db, readers)
    return readers.map(({ userId }) => liked.get(userId) ?? new Set<string>())
  })
  return {
    postIdsOf: postIdsOf as ViewerFlag['postIdsOf'],
    setFor: (answer, postIds) => withLikes(answer as Post | PostPage, postIds),
    async trueFor(viewer, postIds) {
      const { userId } = viewer
      const [isSessionLive, liked] = await Promise.all([
        auth.isLive(viewer),
        reads.call({ userId, postIds }),
      ])
      return isSessionLive ? liked : null
    },
  }
}

function withLikes(answer: Post | PostPage, liked: ReadonlySet<string>): Post | PostPage {
  if ('posts' in answer) {
    return { ...answer, posts: answer.posts.map((post) => withLike(post, liked)) }
  }
  return withLike(answer, liked)
}

function withLike(post: Post, liked: ReadonlySet<string>): Post {
  const { replied_post } = post.actions
  const is_liked = liked.has(post.id)
  return {
    ...post,
    actions: {
      ...post.actions,
      is_liked,
      replied_post: replied_post && {
        ...replied_post,
        actions: { ...replied_post.actions, is_liked: liked.has(replied_post.id) },
      },
    },
  }
}
