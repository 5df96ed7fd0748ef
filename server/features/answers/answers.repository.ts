import { sql } from 'kysely'
import { UNREAD_MAX } from '../../../contract/constants.ts'
import { isRecent } from '../../kernel/db/clock.ts'
import { idArray, type Queryable } from '../../kernel/db/database.ts'

const MUTED_MAX = 100

/** Returns the number of the newest reply that the user has seen; 0 if there is none. */
export async function selectSeenNo(db: Queryable, userId: string): Promise<number> {
  const state = db.selectFrom('answer_states').select('seen_no').where('user_id', '=', userId)
  return Number((await state.executeTakeFirst())?.seen_no ?? 0)
}

/** Returns which of these numbers are those of mentions. */
export async function selectMentionNos(
  db: Queryable,
  userId: string,
  numbers: string[],
): Promise<Set<string>> {
  const { rows } = await sql<{ no: string }>`SELECT received_no AS no FROM mentions
    WHERE user_id = ${userId}::bigint AND received_no = ANY(${idArray(numbers)}::bigint[])`.execute(
    db,
  )
  return new Set(rows.map(({ no }) => no))
}

/** Counts unread replies and mentions in the list itself, because only it reflects removals and returns. */
export async function selectReplySummary(db: Queryable, userId: string) {
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

/** Moves the mark forward, at most to the newest received reply. */
export async function updateSeenNo(db: Queryable, userId: string, seen: number): Promise<void> {
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
export async function setPostMuted(
  db: Queryable,
  { id, ownerId }: { id: string; ownerId: string },
  isMuted: boolean,
): Promise<boolean> {
  const { numAffectedRows } = await sql`UPDATE posts SET is_muted = ${isMuted}
    WHERE id = ${id} AND owner_id = ${ownerId} AND hidden_for IS NULL`.execute(db)
  return numAffectedRows === 1n
}

const MAILS_WITHOUT_VISIT_MAX = 3
const DAY_SECONDS = 86_400

/** The time of the last visit: a new access token, or a sign-in, which outlives its session. */
const VISITED_AT = sql`coalesce(greatest(
    (SELECT max(used_at) FROM sessions WHERE user_id = state.user_id AND used_at <= now()),
    (SELECT max(used_at) FROM known_clients WHERE user_id = state.user_id AND used_at <= now())),
  '-infinity')`

/** The number of the newest reply that the user has seen in the list or in a mail. */
const KNOWN_NO = sql`greatest(state.seen_no, state.mailed_no)`

export type DueMail = { userId: string; email: string; afterNo: string; isLast: boolean }

/**
 * Claims mails about replies that are unread for an hour: one a day to a user, and no further one
 * after `isLast` until the next visit.
 */
export async function claimReplyMails(tx: Queryable, limit: number): Promise<DueMail[]> {
  // For EXISTS, PostgreSQL could join everything that anybody has received.
  const isUnreadForAnHour = sql`(
    SELECT true FROM received_replies WHERE recipient_id = state.user_id AND received_no > ${KNOWN_NO}
      AND created_at < now() - interval '1 hour' AND created_at > visit.at LIMIT 1)`
  const { rows } = await sql<DueMail>`
    WITH due AS MATERIALIZED (
      SELECT state.user_id, u.email, ${KNOWN_NO} AS after_no,
        CASE WHEN visit.at > state.mailed_at THEN 1 ELSE state.mails_since_visit + 1 END AS mails
      FROM answer_states state JOIN users u ON u.id = state.user_id AND u.deleted_at IS NULL
      CROSS JOIN LATERAL (SELECT ${VISITED_AT} AS at) visit
      WHERE wants_mail AND last_no > ${KNOWN_NO}
        AND (mailed_at IS NULL OR NOT ${isRecent('mailed_at', DAY_SECONDS)})
        AND (mails_since_visit < ${sql.lit(MAILS_WITHOUT_VISIT_MAX)} OR visit.at > mailed_at)
        AND ${isUnreadForAnHour}
      ORDER BY state.user_id LIMIT ${limit} FOR NO KEY UPDATE OF state SKIP LOCKED
    )
    UPDATE answer_states state
    SET mailed_at = now(), mailed_no = last_no, mails_since_visit = due.mails
    FROM due WHERE state.user_id = due.user_id
    RETURNING due.user_id AS "userId", due.email, due.after_no AS "afterNo",
      due.mails >= ${sql.lit(MAILS_WITHOUT_VISIT_MAX)} AS "isLast"`.execute(tx)
  return rows
}

export type ReplyToMail = { username: string; text: string; isMention: boolean }

/**
 * Returns the unseen replies and mentions, oldest first; none if the user wants no mails, has another e-mail or
 * has deleted the account.
 */
export async function selectRepliesToMail(
  db: Queryable,
  { userId, afterNo, to }: { userId: string; afterNo: string; to: string },
): Promise<ReplyToMail[]> {
  const state = sql`SELECT greatest(seen_no, ${afterNo}::bigint)
    FROM answer_states JOIN users ON id = user_id AND email = ${to} AND deleted_at IS NULL
    WHERE user_id = ${userId}::bigint AND wants_mail`
  const { rows } = await sql<ReplyToMail>`
    SELECT username, text, EXISTS (SELECT FROM mentions m WHERE m.user_id = recipient_id
      AND m.received_no = r.received_no) AS "isMention"
    FROM received_replies r
    WHERE recipient_id = ${userId}::bigint AND received_no > (${state})
    ORDER BY received_no LIMIT ${sql.lit(UNREAD_MAX)}`.execute(db)
  return rows
}
