import { sql } from 'kysely'
import { createBatch } from '../db/batch.ts'
import type { Db, Queryable } from '../db/open.ts'
import type { PostList } from '../posts/posts.ts'
import { deleteLikes, type LikesQuestion, selectLiked } from './likes.store.ts'

/** What a user liked, replies included, by the time of the like. */
export function likedPosts(userId: string): PostList {
  return {
    from: sql`FROM likes WHERE user_id = ${userId}::bigint`,
    id: sql`post_id`,
    key: sql`id`,
    total: sql`SELECT coalesce((SELECT likes FROM like_totals WHERE user_id = ${userId}::bigint), 0)`,
  }
}

/** Removes every like of a post that is about to go, and takes them out of their users' totals. */
export async function removeLikesOf(tx: Queryable, postId: string): Promise<void> {
  // A loved post has many likes: they get more time than a statement usually has.
  await sql`SET LOCAL statement_timeout = '7s'`.execute(tx)
  await deleteLikes(tx, postId)
}

/** Makes the function that tells which of some posts a user likes; questions that come together are asked together. */
export function likedBy(db: Db) {
  return createBatch((questions: LikesQuestion[]) => selectLiked(db, questions))
}
