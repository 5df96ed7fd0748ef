import { sql } from 'kysely'
import type { Queryable } from './database.ts'

type Addresses = { publicUrl: string | undefined; formerUrls: string[] }

/**
 * Stores the wall's addresses, and returns with what the ids of its feeds begin: the address at the
 * first start, or without one a `tag:` URI (RFC 4151), so that no two walls share ids.
 */
export async function storeAddresses(
  db: Queryable,
  { publicUrl, formerUrls }: Addresses,
): Promise<string> {
  const url = publicUrl ?? null
  const { rows } = await sql<{ id_base: string }>`
    UPDATE installation SET
      id_base = coalesce(id_base, ${url}::text,
        'tag:localhost,' || to_char(now() AT TIME ZONE 'UTC', 'YYYY-MM-DD') || ':' || gen_random_uuid()),
      moved_at = CASE WHEN public_url <> ${url} THEN now() ELSE moved_at END,
      public_url = coalesce(${url}, public_url),
      former_url = ${formerUrls.at(-1) ?? null}
    RETURNING id_base`.execute(db)
  return rows[0]?.id_base ?? ''
}

/** Returns what `storeAddresses` has returned; null before the first start. */
export async function selectIdBase(db: Queryable): Promise<string | null> {
  const row = await db.selectFrom('installation').select('id_base').executeTakeFirst()
  return row?.id_base ?? null
}
