import { batchCalls } from '../db/batch-calls.ts'
import type { Db } from '../db/database.ts'
import { addToLikesCount, lockForLikes } from '../posts/posts.service.ts'
import { deleteLikes, insertLikes } from './likes.repository.ts'

/** What a user wants of a post: to like it, or not to. */
export type LikeWish = { userId: string; likes: boolean }
/** The post's number of likes after a wish, and what the readers of it still have to hear, if anything changed. */
type Granted = { likesCount: number; told: Promise<void> | undefined }
type SetLike = (wish: LikeWish) => Promise<Granted>

/**
 * Makes the function that grants a wish about a post and returns its number of likes after it. The wishes for one post
 * that come while a transaction on it is at work share the next one: a hot post's row is locked and flushed once for all
 * of them, and `changed` is called once, when rows have changed. Rejects with POST_NOT_FOUND when there is no such post.
 */
export function createLikeQueue(
  db: Db,
  changed: () => Promise<void>,
): (postId: string, wish: LikeWish) => Promise<number> {
  const queues = new Map<string, SetLike>()
  return async (postId, wish) => {
    const queue =
      queues.get(postId) ??
      batchCalls(
        (wishes: LikeWish[]) => grant(wishes, postId),
        () => queues.delete(postId),
      )
    queues.set(postId, queue)
    const { likesCount, told } = await queue(wish)
    await told
    return likesCount
  }

  async function grant(wishes: LikeWish[], postId: string): Promise<Granted[]> {
    const { likesCount, isChanged } = await setLikes(db, postId, wishes)
    // Not awaited here: the next transaction need not wait for it.
    const told = isChanged ? changed() : undefined
    return wishes.map(() => ({ likesCount, told }))
  }
}

/** Grants the last wish of each user in one transaction. */
async function setLikes(db: Db, postId: string, wishes: LikeWish[]) {
  const last = new Map(wishes.map(({ userId, likes }) => [userId, likes]))
  const users = (wanted: boolean) =>
    [...last].filter(([, likes]) => likes === wanted).map(([userId]) => userId)
  const [liking, unliking] = [users(true), users(false)]
  return db.transaction().execute(async (tx) => {
    const before = await lockForLikes(tx, postId)
    const added = liking.length > 0 ? await insertLikes(tx, postId, liking) : 0
    const removed = unliking.length > 0 ? await deleteLikes(tx, postId, unliking) : 0
    const change = added - removed
    const likesCount = change === 0 ? before : await addToLikesCount(tx, postId, change)
    return { likesCount, isChanged: added + removed > 0 }
  })
}
