import { sql } from 'kysely'
import { batchCalls } from '../db/batch-calls.ts'
import type { Db, Queryable } from '../db/database.ts'
import type { PostList } from '../posts/posts.service.ts'
import { addJob } from '../queue/queue.ts'
import { insertRemovedPost, type LikesQuestion, selectLiked } from './likes.repository.ts'

/**
 * What a user liked, replies included, by the time of the like. Likes of deleted posts do not count, though they may still
 * be there. Those posts are few, and as an array they leave the plan what it is without any.
 */
export function likedPosts(userId: string): PostList {
  const removed = sql`ARRAY(SELECT post_id FROM removed_posts)`
  // A look-up for each: joined, the two tables could be read from the side of the likes.
  const isLiked = sql`(SELECT count(*) FROM likes WHERE post_id = r.post_id AND user_id = ${userId}::bigint)`
  return {
    from: sql`FROM likes WHERE user_id = ${userId}::bigint AND post_id <> ALL (${removed})`,
    id: sql`post_id`,
    key: sql`id`,
    total: sql`SELECT coalesce((SELECT likes FROM like_totals WHERE user_id = ${userId}::bigint), 0)
      - (SELECT coalesce(sum(${isLiked}), 0) FROM removed_posts r)`,
  }
}

/**
 * Takes the likes of a post that its caller has locked, and is about to delete, out of every list and total at once. The rows
 * themselves go in steps, by the job `remove-likes`: a loved post has more than one transaction can remove in its time.
 */
export async function removeLikesOf(tx: Queryable, postId: string): Promise<void> {
  if (await insertRemovedPost(tx, postId)) await addJob(tx, 'remove-likes', { payload: {} })
}

/** Makes the function that tells which of some posts a user likes; questions that come together are asked together. */
export function likedBy(db: Db) {
  return batchCalls((questions: LikesQuestion[]) => selectLiked(db, questions))
}
