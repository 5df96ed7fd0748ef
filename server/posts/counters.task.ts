import { sql } from 'kysely'
import type { Queryable } from '../db/database.ts'

/** A counter that differs from the rows it counts. */
export type Difference = { counter: string; id: string; kept: number; rows: number }

/** Each statement compares every counter of one kind with its rows, in one snapshot. */
const CHECKS = [
  sql`SELECT 'wall' AS counter, 'all' AS id,
      (SELECT coalesce(sum(posts), 0) FROM wall_totals)::float8 AS kept,
      (SELECT count(*) FROM posts WHERE replied_post_id IS NULL)::float8 AS rows`,
  sql`SELECT 'owner posts' AS counter, coalesce(t.user_id, c.owner_id)::text AS id,
      coalesce(t.posts, 0)::float8 AS kept, coalesce(c.rows, 0)::float8 AS rows
    FROM owner_totals t FULL JOIN (
      SELECT owner_id, count(*) AS rows FROM posts WHERE replied_post_id IS NULL GROUP BY owner_id
    ) c ON c.owner_id = t.user_id`,
  sql`SELECT 'owner replies' AS counter, coalesce(t.user_id, c.owner_id)::text AS id,
      coalesce(t.replies, 0)::float8 AS kept, coalesce(c.rows, 0)::float8 AS rows
    FROM owner_totals t FULL JOIN (
      SELECT owner_id, count(*) AS rows FROM posts WHERE replied_post_id IS NOT NULL GROUP BY owner_id
    ) c ON c.owner_id = t.user_id`,
  sql`SELECT 'user likes' AS counter, coalesce(t.user_id, c.user_id)::text AS id,
      coalesce(t.likes, 0)::float8 AS kept, coalesce(c.rows, 0)::float8 AS rows
    FROM like_totals t FULL JOIN (SELECT user_id, count(*) AS rows FROM likes GROUP BY user_id) c
    ON c.user_id = t.user_id`,
  sql`SELECT 'post likes' AS counter, p.id::text AS id,
      p.likes_count::float8 AS kept, coalesce(c.rows, 0)::float8 AS rows
    FROM posts p LEFT JOIN (SELECT post_id, count(*) AS rows FROM likes GROUP BY post_id) c
    ON c.post_id = p.id`,
  sql`SELECT 'post replies' AS counter, p.id::text AS id,
      p.replies_count::float8 AS kept, coalesce(c.rows, 0)::float8 AS rows
    FROM posts p LEFT JOIN (
      SELECT replied_post_id, count(*) AS rows FROM posts
      WHERE replied_post_id IS NOT NULL GROUP BY replied_post_id
    ) c ON c.replied_post_id = p.id`,
]

/** As many as a person reads. More differences would add nothing. */
const DIFFERENCES_MAX = 100

/**
 * Compares every stored counter with the rows it counts. Returns at most 100 differences. It reads whole tables, so it runs
 * at night.
 */
export async function findCounterDifferences(db: Queryable): Promise<Difference[]> {
  const differences: Difference[] = []
  for (const check of CHECKS) {
    const { rows } = await sql<Difference>`
      SELECT * FROM (${check}) checked WHERE kept <> rows ORDER BY id LIMIT ${DIFFERENCES_MAX}`.execute(
      db,
    )
    differences.push(...rows)
  }
  return differences.slice(0, DIFFERENCES_MAX)
}
