import { sql } from 'kysely'
import type { Queryable } from './database.ts'

/**
 * Stores the wall's address, and returns with what the ids of its feeds begin: the address at the
 * first start, or without one a `tag:` URI (RFC 4151), so that no two walls share ids.
 */
export async function storeAddress(db: Queryable, publicUrl: string | undefined): Promise<string> {
  const { rows } = await sql<{ id_base: string }>`
    UPDATE installation SET
      id_base = coalesce(id_base, ${publicUrl ?? null},
        'tag:localhost,' || to_char(now() AT TIME ZONE 'UTC', 'YYYY-MM-DD') || ':' || gen_random_uuid()),
      moved_at = CASE WHEN public_url <> ${publicUrl ?? null} THEN now() ELSE moved_at END,
      public_url = coalesce(${publicUrl ?? null}, public_url)
    RETURNING id_base`.execute(db)
  return rows[0]?.id_base ?? ''
}
