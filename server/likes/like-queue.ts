import { createBatch } from '../db/batch.ts'
import type { Db } from '../db/open.ts'
import { addToLikesCount, lockForLikes } from '../posts/posts.ts'
import { deleteLikes, insertLikes } from './likes.store.ts'

/** What a user wants of a post: to like it, or not to. */
export type LikeWish = { userId: string; likes: boolean }
type SetLike = (wish: LikeWish) => Promise<number>

/**
 * Makes the function that grants a wish about a post and gives its number of likes after it. The wishes for one post
 * that come while a transaction on it is at work share the next one: a hot post's row is locked and flushed once for all
 * of them. Rejects with POST_NOT_FOUND when there is no such post.
 */
export function createLikeQueue(db: Db): (postId: string, wish: LikeWish) => Promise<number> {
  const queues = new Map<string, SetLike>()
  return (postId, wish) => {
    const queue =
      queues.get(postId) ??
      createBatch(
        (wishes: LikeWish[]) => grant(db, postId, wishes),
        () => queues.delete(postId),
      )
    queues.set(postId, queue)
    return queue(wish)
  }
}

/** Grants the last wish of each user in one transaction; all see the same number. */
async function grant(db: Db, postId: string, wishes: LikeWish[]): Promise<number[]> {
  const last = new Map(wishes.map(({ userId, likes }) => [userId, likes]))
  const users = (wanted: boolean) =>
    [...last].filter(([, likes]) => likes === wanted).map(([userId]) => userId)
  const [liking, unliking] = [users(true), users(false)]
  const likesCount = await db.transaction().execute(async (tx) => {
    await lockForLikes(tx, postId)
    const added = liking.length > 0 ? await insertLikes(tx, postId, liking) : 0
    const removed = unliking.length > 0 ? await deleteLikes(tx, postId, unliking) : 0
    return addToLikesCount(tx, postId, added - removed)
  })
  return wishes.map(() => likesCount)
}
