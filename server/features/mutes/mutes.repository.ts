import { sql } from 'kysely'
import { type Queryable, unixSeconds } from '../../kernel/db/database.ts'

type Mute = { userId: string; mutedId: string }

/** Excludes muted users who have left. Their mutes apply again when they return. */
export async function selectMutedUsers(db: Queryable, userId: string) {
  const { rows } = await sql<{ id: string; username: string; until: number | null }>`
    SELECT u.id, u.username, ${unixSeconds('m.until')} AS until
    FROM mutes_in_force m JOIN users u ON u.id = m.muted_id
    WHERE m.user_id = ${userId} AND u.deleted_at IS NULL
    ORDER BY m.created_at DESC, u.id DESC`.execute(db)
  return rows.map(({ until, ...user }) => ({ ...user, ...(until !== null && { until }) }))
}

/** Counts a user's other mutes, and prevents new mutes until the transaction ends. */
export async function countOtherMutedUsers(
  tx: Queryable,
  { userId, mutedId }: Mute,
): Promise<number> {
  await tx.selectFrom('users').select('id').where('id', '=', userId).forNoKeyUpdate().execute()
  const { rows } = await sql<{ mutes: number }>`SELECT count(*)::int AS mutes FROM mutes_in_force
    WHERE user_id = ${userId}::bigint AND muted_id <> ${mutedId}::bigint`.execute(tx)
  return rows[0]?.mutes ?? 0
}

/**
 * Mutes a user for so many days, or without an end, whatever the mute was before. One in force keeps
 * its place in the list. Returns false if the muted user does not exist.
 */
export async function muteUser(
  tx: Queryable,
  { userId, mutedId, days = null }: Mute & { days?: number | null | undefined },
): Promise<boolean> {
  const { rows } = await sql`
    WITH muted AS (SELECT id FROM users WHERE id = ${mutedId}::bigint AND deleted_at IS NULL),
      inserted AS (
        INSERT INTO mutes AS former (user_id, muted_id, until)
        SELECT ${userId}::bigint, id, now() + ${days} * interval '1 day' FROM muted
        ON CONFLICT (user_id, muted_id) DO UPDATE SET until = excluded.until,
          created_at = CASE WHEN former.until <= now() THEN now() ELSE former.created_at END)
    SELECT id FROM muted`.execute(tx)
  return rows.length > 0
}

/** Returns false if the muted user does not exist. */
export async function unmuteUser(db: Queryable, { userId, mutedId }: Mute): Promise<boolean> {
  const { rows } = await sql`
    WITH deleted AS (
      DELETE FROM mutes WHERE user_id = ${userId}::bigint AND muted_id = ${mutedId}::bigint)
    SELECT id FROM users WHERE id = ${mutedId}::bigint`.execute(db)
  return rows.length > 0
}

export async function removeEndedMutes(db: Queryable): Promise<void> {
  await sql`DELETE FROM mutes WHERE until < now()`.execute(db)
}
