import { sql } from 'kysely'
import type { PostList } from '../posts/posts.service.ts'

/** Direct replies to a post; its total is null when the post is gone. */
export function repliesTo(postId: string): PostList {
  return {
    from: sql`FROM posts WHERE replied_post_id = ${postId}::bigint`,
    id: sql`id`,
    key: sql`id`,
    total: sql`SELECT replies_count FROM posts WHERE id = ${postId}::bigint`,
  }
}

/** A user's own replies. */
export function repliesOf(ownerId: string): PostList {
  return {
    from: sql`FROM posts WHERE owner_id = ${ownerId}::bigint AND replied_post_id IS NOT NULL`,
    id: sql`id`,
    key: sql`id`,
    total: sql`SELECT coalesce((SELECT replies FROM owner_totals WHERE user_id = ${ownerId}::bigint), 0)`,
  }
}
