import { type RawBuilder, sql } from 'kysely'
import { RECENT_MAX } from '../../../contract/constants.ts'
import { type Queryable, unixSeconds } from '../../kernel/db/database.ts'

/** The number of the newest acts about an author that are read; more would be slow. */
const ACTS_MAX = sql.raw('500')
const DAY_SECONDS = 86_400

/** Selects the posts whose last act is a removal: a refused appeal counts as one. */
const REMOVED = sql`SELECT FROM (
    SELECT DISTINCT ON (post_id) action FROM (
      SELECT id, post_id, action FROM journal WHERE user_id = u.id ORDER BY id DESC LIMIT ${ACTS_MAX}
    ) acts
    WHERE action IN ('post.remove', 'post.restore') ORDER BY post_id, id DESC
  ) last WHERE action = 'post.remove'`

/** Selects an author's newest posts that can be removed now, with one part for each index. */
function recentPosts(ownerId: RawBuilder<unknown>, seconds: number, limit: number | null) {
  const newest = [
    'hidden_for IS NULL AND replied_post_id IS NULL',
    'hidden_for IS NULL AND replied_post_id IS NOT NULL',
    'hidden_for IS NOT NULL',
  ].map(
    (condition) => sql`(SELECT id, created_at, hidden_for FROM posts
      WHERE owner_id = ${ownerId} AND ${sql.raw(condition)} ORDER BY id DESC LIMIT ${limit}::int)`,
  )
  return sql<{ id: string }>`SELECT id FROM (${sql.join(newest, sql` UNION ALL `)}) newest
    WHERE coalesce(hidden_for, 'reported') = 'reported'
      AND created_at > now() - ${seconds}::float8 * interval '1 second'
    ORDER BY id DESC LIMIT ${limit}::int`
}

/** SQL for the author `u` of a post in the queue. */
export const AUTHOR = sql`json_build_object(
    'id', u.id::text, 'username', u.username, 'createdAt', ${unixSeconds('u.created_at')},
    'posts', coalesce((SELECT posts + replies FROM owner_totals WHERE user_id = u.id), 0),
    'removed', (SELECT count(*) FROM (${REMOVED}) removed),
    'recent', (SELECT count(*) FROM (${recentPosts(sql`u.id`, DAY_SECONDS, RECENT_MAX)}) recent),
    'block', (SELECT json_build_object('reason', reason, 'until', ${unixSeconds('until')})
      FROM blocks_in_force WHERE user_id = u.id))`

/** Returns the ids of `recentPosts`, oldest first. */
export async function selectRecentPosts(
  db: Queryable,
  userId: string,
  { seconds = DAY_SECONDS, limit = RECENT_MAX }: { seconds?: number; limit?: number | null } = {},
): Promise<string[]> {
  const { rows } = await recentPosts(sql`${userId}::bigint`, seconds, limit).execute(db)
  return rows.map(({ id }) => id).reverse()
}
