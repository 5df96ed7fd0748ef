import { type RawBuilder, sql } from 'kysely'
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
      SELECT * FROM (${check}) checked WHERE kept <> rows ORDER BY length(id), id LIMIT ${DIFFERENCES_MAX}`.execute(
      db,
    )
    differences.push(...rows)
  }
  return differences.slice(0, DIFFERENCES_MAX)
}

/**
 * For each kind of counter, the statement that locks the row of a counter, so that whoever changes its rows has to wait, and the
 * one that sets it from its rows afterwards.
 */
const MENDS: Record<
  string,
  (id: string) => { lock: RawBuilder<unknown>; set: RawBuilder<unknown> }
> = {
  wall: () => ({
    lock: sql`SELECT FROM wall_totals ORDER BY slot FOR UPDATE`,
    set: sql`UPDATE wall_totals SET posts = CASE slot
        WHEN 0 THEN (SELECT count(*) FROM posts WHERE replied_post_id IS NULL) ELSE 0 END`,
  }),
  'owner posts': (id) => ({
    lock: ownerRow(id),
    set: sql`UPDATE owner_totals SET posts = (
        SELECT count(*) FROM posts WHERE owner_id = ${id} AND replied_post_id IS NULL) WHERE user_id = ${id}`,
  }),
  'owner replies': (id) => ({
    lock: ownerRow(id),
    set: sql`UPDATE owner_totals SET replies = (
        SELECT count(*) FROM posts WHERE owner_id = ${id} AND replied_post_id IS NOT NULL) WHERE user_id = ${id}`,
  }),
  'user likes': (id) => ({
    lock: sql`INSERT INTO like_totals AS t (user_id, likes) VALUES (${id}, 0)
        ON CONFLICT (user_id) DO UPDATE SET likes = t.likes`,
    set: sql`UPDATE like_totals SET likes = (SELECT count(*) FROM likes WHERE user_id = ${id})
        WHERE user_id = ${id}`,
  }),
  'post likes': (id) => ({
    lock: sql`SELECT FROM posts WHERE id = ${id} FOR UPDATE`,
    set: sql`UPDATE posts SET likes_count = (SELECT count(*) FROM likes WHERE post_id = ${id})
        WHERE id = ${id}`,
  }),
  'post replies': (id) => ({
    lock: sql`SELECT FROM posts WHERE id = ${id} FOR UPDATE`,
    set: sql`UPDATE posts SET replies_count = (SELECT count(*) FROM posts WHERE replied_post_id = ${id})
        WHERE id = ${id}`,
  }),
}

const ownerRow = (id: string) => sql`INSERT INTO owner_totals AS t (user_id) VALUES (${id})
  ON CONFLICT (user_id) DO UPDATE SET posts = t.posts`

/** Sets a counter from its rows, exactly, while others go on writing. */
export async function mendCounter(tx: Queryable, { counter, id }: Difference): Promise<void> {
  const mend = MENDS[counter]?.(id)
  if (!mend) throw new Error(`there is no counter named ${counter}`)
  await mend.lock.execute(tx)
  await mend.set.execute(tx)
}
