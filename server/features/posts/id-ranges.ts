import { sql } from 'kysely'
import type { Queryable } from '../../kernel/db/database.ts'

/** Range n of a size holds the ids from n × size up to, and without, (n + 1) × size. */
export type IdRange = {
  number: number
  newest: Date
}

/** Returns those of the last `count` ranges that have posts; it reads one post of each. */
export async function readIdRanges(
  db: Queryable,
  { size, count }: { size: number; count: number },
): Promise<IdRange[]> {
  const { rows } = await sql<IdRange>`
    SELECT n::int AS number, last.created_at AS newest
    FROM (SELECT max(id) / ${size}::int AS number FROM posts) newest_range
    CROSS JOIN LATERAL generate_series(greatest(0, number - ${count}::int + 1), number) n
    CROSS JOIN LATERAL (
      SELECT created_at FROM visible_posts WHERE id >= n * ${size}::int AND id < (n + 1) * ${size}::int
      ORDER BY id DESC LIMIT 1
    ) last
    ORDER BY n`.execute(db)
  return rows
}

export async function readIdsInRange(
  db: Queryable,
  { size, number }: { size: number; number: number },
): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    SELECT id FROM visible_posts WHERE id >= ${number * size}::bigint AND id < ${(number + 1) * size}::bigint
    ORDER BY id`.execute(db)
  return rows.map(({ id }) => id)
}
