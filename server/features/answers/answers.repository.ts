import { sql } from 'kysely'
import { UNREAD_MAX } from '../../../contract/constants.ts'
import type { Queryable } from '../../kernel/db/database.ts'

const MUTED_MAX = 100

export async function selectSeen(db: Queryable, userId: string): Promise<number> {
  const state = db.selectFrom('answer_states').select('seen_no').where('user_id', '=', userId)
  return Number((await state.executeTakeFirst())?.seen_no ?? 0)
}

/**
 * Counts unread replies from the list itself, since only the list reflects removals and returns.
 */
export async function selectReceived(db: Queryable, userId: string) {
  const seen = sql`(SELECT seen_no FROM answer_states WHERE user_id = ${userId}::bigint)`
  const { rows } = await sql<{ unread: number; muted: string[]; wantsMail: boolean }>`
    SELECT (SELECT count(*)::int FROM (
        SELECT FROM received_replies WHERE recipient_id = ${userId}::bigint AND received_no > ${seen}
        LIMIT ${sql.lit(UNREAD_MAX)}
      ) unseen) AS unread,
      ARRAY(SELECT id::text FROM posts WHERE owner_id = ${userId}::bigint AND is_muted
        ORDER BY id DESC LIMIT ${sql.lit(MUTED_MAX)}) AS muted,
      coalesce((SELECT wants_mail FROM answer_states WHERE user_id = ${userId}::bigint), true) AS "wantsMail"
  `.execute(db)
  return rows[0] as (typeof rows)[0]
}

/** Moves the mark forward, at most to the newest reply that was received. */
export async function updateSeen(db: Queryable, userId: string, seen: number): Promise<void> {
  await sql`UPDATE answer_states SET seen_no = greatest(seen_no, least(last_no, ${seen}))
    WHERE user_id = ${userId}`.execute(db)
}

/** Returns false if the user has been erased. */
export async function setWantsMail(
  db: Queryable,
  userId: string,
  wants: boolean,
): Promise<boolean> {
  const { numAffectedRows } = await sql`INSERT INTO answer_states (user_id, wants_mail)
    SELECT id, ${wants} FROM users WHERE id = ${userId}::bigint FOR KEY SHARE
    ON CONFLICT (user_id) DO UPDATE SET wants_mail = excluded.wants_mail`.execute(db)
  return numAffectedRows === 1n
}

/** Returns false if the user has no such visible post. */
export async function setMuted(
  db: Queryable,
  { id, ownerId }: { id: string; ownerId: string },
  isMuted: boolean,
): Promise<boolean> {
  const { numAffectedRows } = await sql`UPDATE posts SET is_muted = ${isMuted}
    WHERE id = ${id} AND owner_id = ${ownerId} AND hidden_for IS NULL`.execute(db)
  return numAffectedRows === 1n
}
