import { sql } from 'kysely'
import type { Queryable } from '../../kernel/db/database.ts'

/** Range n of a size holds the ids from n × size up to, and without, (n + 1) × size. */
export type IdRange = {
  number: number
  newest: Date
}

/** An older post is rarely edited after the newest one was published. */
const EDITED_MAX = 100

/** Returns the ranges, of the last `count`, that have posts, and reads the newest posts of each. */
export async function readIdRanges(
  db: Queryable,
  { size, count }: { size: number; count: number },
): Promise<IdRange[]> {
  const { rows } = await sql<IdRange>`
    SELECT n::int AS number, last.changed_at AS newest
    FROM (SELECT max(id) / ${size}::int AS number FROM posts) newest_range
    CROSS JOIN LATERAL generate_series(greatest(0, number - ${count}::int + 1), number) n
    CROSS JOIN LATERAL (
      SELECT greatest((array_agg(created_at ORDER BY id DESC))[1], max(modified_at)) AS changed_at FROM (
        SELECT id, created_at, modified_at FROM visible_posts
        WHERE id >= n * ${size}::int AND id < (n + 1) * ${size}::int
        ORDER BY id DESC LIMIT ${EDITED_MAX}
      ) newest_posts
    ) last
    WHERE last.changed_at IS NOT NULL
    ORDER BY n`.execute(db)
  return rows
}

export type PostInRange = { id: string; modified_at: Date | null }

export async function readPostsInRange(
  db: Queryable,
  { size, number }: { size: number; number: number },
): Promise<PostInRange[]> {
  const { rows } = await sql<PostInRange>`
    SELECT id, modified_at FROM visible_posts WHERE id >= ${number * size}::bigint AND id < ${(number + 1) * size}::bigint
    ORDER BY id`.execute(db)
  return rows
}
