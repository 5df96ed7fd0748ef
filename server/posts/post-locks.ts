import { sql } from 'kysely'
import { idArray, type Queryable } from '../db/database.ts'

/** The first key of these advisory locks. */
const MOVES = 1
/** A transaction that moves hundreds of posts holds so many of these locks at most. PostgreSQL has room for 6,400 by default. */
const SLOTS = 256

/**
 * Waits until no other transaction removes, archives or restores these posts or the posts they answer, and keeps others
 * from doing so until the transaction ends. Row locks alone cannot do that: a restore counts the replies of a post, and moves
 * its row into another table while others wait for it. It comes before every lock of a post's row.
 */
export async function lockMoves(tx: Queryable, ids: string[]): Promise<void> {
  await sql`SELECT pg_advisory_xact_lock(${sql.lit(MOVES)}, slot) FROM (
    SELECT DISTINCT (post % ${sql.lit(SLOTS)})::int AS slot
    FROM unnest(${idArray(ids)}::bigint[]) own, LATERAL (
      SELECT own UNION ALL SELECT replied_post_id FROM posts WHERE id = own
      UNION ALL SELECT replied_post_id FROM archived_posts WHERE id = own
    ) touched(post)
    WHERE post IS NOT NULL ORDER BY slot
  ) slots`.execute(tx)
}

/**
 * Locks the rows of published posts, and of the posts they answer, against likes, replies and edits: by ascending id and before
 * any total, as all code does, so that no two transactions deadlock. Returns the owners of those that are published, by
 * their ids.
 */
export async function lockPublished(tx: Queryable, ids: string[]): Promise<Map<string, string>> {
  const { rows } = await sql<{ id: string; owner_id: string }>`
    WITH own AS (SELECT id, replied_post_id FROM posts WHERE id = ANY(${idArray(ids)}::bigint[]))
    SELECT id, owner_id FROM posts
    WHERE id IN (SELECT id FROM own UNION ALL SELECT replied_post_id FROM own)
    ORDER BY id FOR UPDATE`.execute(tx)
  const own = new Set(ids)
  return new Map(rows.flatMap(({ id, owner_id }) => (own.has(id) ? [[id, owner_id]] : [])))
}

/** Locks the published posts that archived ones answer, which count them again after a restore. */
export async function lockReplied(tx: Queryable, ids: string[]): Promise<void> {
  await sql`SELECT FROM posts WHERE id IN (
      SELECT replied_post_id FROM archived_posts WHERE id = ANY(${idArray(ids)}::bigint[]))
    ORDER BY id FOR UPDATE`.execute(tx)
}
