import { sql } from 'kysely'
import type { Queryable } from '../../kernel/db/database.ts'

/** When a visible post `p` was edited or clarified last; null if it never was. */
const CHANGED_AT = sql<Date | null>`(SELECT greatest(p.modified_at, c.created_at, c.modified_at)
  FROM posts own LEFT JOIN visible_posts c ON c.id = own.clarification_id WHERE own.id = p.id)`

/** Edits of older posts of a range do not count as its changes, because they are rare. */
const EDITED_MAX = 100

/** Returns the ranges with posts among the last `count` ranges, and the time of their changes. */
export async function readIdRanges(
  db: Queryable,
  { size, count }: { size: number; count: number },
) {
  const { rows } = await sql<{ number: number; newest: Date }>`
    SELECT n::int AS number, last.changed_at AS newest
    FROM (SELECT max(id) / ${size}::int AS number FROM posts) newest_range
    CROSS JOIN LATERAL generate_series(greatest(0, number - ${count}::int + 1), number) n
    CROSS JOIN LATERAL (
      SELECT greatest((array_agg(created_at ORDER BY id DESC))[1], max(changed_at)) AS changed_at
      FROM (
        SELECT id, created_at, ${CHANGED_AT} AS changed_at FROM visible_posts p
        WHERE id >= n * ${size}::int AND id < (n + 1) * ${size}::int
        ORDER BY id DESC LIMIT ${EDITED_MAX}
      ) newest_posts
    ) last
    WHERE last.changed_at IS NOT NULL
    ORDER BY n`.execute(db)
  return rows
}

export async function readPostsInRange(
  db: Queryable,
  { size, number }: { size: number; number: number },
) {
  const { rows } = await sql<{ id: string; changedAt: Date | null }>`
    SELECT id, ${CHANGED_AT} AS "changedAt" FROM visible_posts p
    WHERE id >= ${number * size}::bigint AND id < ${(number + 1) * size}::bigint ORDER BY id`.execute(
    db,
  )
  return rows
}
