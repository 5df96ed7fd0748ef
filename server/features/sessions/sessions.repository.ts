import { type Insertable, sql } from 'kysely'
import { SESSIONS_MAX } from '../../../contract/constants.ts'
import type { Device } from '../../../contract/fields.ts'
import type { Session } from '../../../contract/sessions.ts'
import { hasRow, idArray, type Queryable, unixSeconds } from '../../kernel/db/database.ts'
import type { Tables } from '../../kernel/db/tables.ts'
import type { Newcomer, Viewer } from '../../kernel/http/route.ts'
import { IDLE_SECONDS, LIFETIME_SECONDS } from './cookie.ts'

/** The age of a secret in seconds. A time that a clock set ahead makes it as old as it is ahead. */
const SECRET_AGE = sql<number>`abs(extract(epoch FROM now() - rotated_at))::float8`

export const IS_LIVE = sql<boolean>`(sessions.used_at > now() - ${IDLE_SECONDS} * interval '1 second'
  AND sessions.created_at > now() - ${LIFETIME_SECONDS} * interval '1 second')`

/** `reason` is of the account's block. */
type StoredSession = {
  question: number
  newcomer: Newcomer | null
  reason: string | null
  until: Date | null
  writingClosed: string | null
}

/**
 * Returns the live session of each viewer, in order, or null. It is written as SQL because most
 * calls wait for it; the subqueries keep PostgreSQL from planning each call anew.
 */
export async function selectLiveSessions(
  db: Queryable,
  viewers: Viewer[],
): Promise<(StoredSession | null)[]> {
  const sessionIds = idArray(viewers.map(({ sessionId }) => sessionId))
  const userIds = idArray(viewers.map(({ userId }) => userId))
  const { rows } = await sql<StoredSession>`
    SELECT question::int, block_reason AS reason, block_until AS until,
      writing_closed AS "writingClosed", CASE WHEN newcomer_for > 0 THEN (
        SELECT json_build_object('mailbox', coalesce(mailbox, email_key), 'secondsLeft', newcomer_for)
        FROM users WHERE id = asked.user_id) END AS newcomer
    FROM unnest((SELECT ${sessionIds}::uuid[]), (SELECT ${userIds}::bigint[]))
      WITH ORDINALITY AS asked (session_id, user_id, question)
    JOIN sessions ON sessions.id = session_id AND sessions.user_id = asked.user_id
    JOIN write_states state ON state.user_id = sessions.user_id
    WHERE ${IS_LIVE}`.execute(db)
  const sessions: (StoredSession | null)[] = viewers.map(() => null)
  for (const session of rows) sessions[session.question - 1] = session
  return sessions
}

/** Returns for each viewer whether the session is live, which is all that cached reads need. */
export async function selectLiveness(db: Queryable, viewers: Viewer[]): Promise<boolean[]> {
  const sessionIds = idArray(viewers.map(({ sessionId }) => sessionId))
  const { rows } = await sql<{ id: string; userId: string }>`
    SELECT id, user_id AS "userId" FROM sessions
    WHERE id = ANY ((SELECT ${sessionIds}::uuid[])::uuid[]) AND ${IS_LIVE}`.execute(db)
  const live = new Map(rows.map(({ id, userId }) => [id, userId]))
  return viewers.map(({ sessionId, userId }) => live.get(sessionId) === userId)
}

type NewSession = Pick<
  Insertable<Tables['sessions']>,
  | 'id'
  | 'user_id'
  | 'secret_hash'
  | 'secret_number'
  | 'client_hash'
  | 'browser_hash'
  | 'network_hash'
> & { device: Device }

/** Adds a session and removes the oldest beyond SESSIONS_MAX. Returns whether any was live. */
export async function insertSession(
  tx: Queryable,
  { device, ...session }: NewSession,
): Promise<boolean> {
  await lockUser(tx, session.user_id)
  await tx
    .insertInto('sessions')
    .values({
      ...session,
      previous_hash: null,
      seen: true,
      user_agent: device.userAgent,
      user_agent_version: device.userAgentVersion,
      os: device.os,
    })
    .execute()
  const removed = await tx
    .deleteFrom('sessions')
    .where('id', 'in', (eb) =>
      eb
        .selectFrom('sessions')
        .select('id')
        .where('user_id', '=', session.user_id)
        .where('id', '!=', session.id)
        .orderBy('created_at', 'desc')
        .orderBy('id')
        .offset(SESSIONS_MAX - 1),
    )
    .returning(IS_LIVE.as('wasLive'))
    .execute()
  return removed.some(({ wasLive }) => wasLive)
}

/** Returns the device of a session, as the list of sessions shows it. */
export async function selectDevice(db: Queryable, viewer: Viewer): Promise<Device | undefined> {
  return db
    .selectFrom('sessions')
    .select(['user_agent as userAgent', 'user_agent_version as userAgentVersion', 'os'])
    .where('id', '=', viewer.sessionId)
    .executeTakeFirst()
}

/** Locks a user, so that changes of the account, its sessions and its blocks wait for each other. */
export function lockUser(tx: Queryable, id: string) {
  const user = tx.selectFrom('users').select(['id', 'username', 'email']).where('id', '=', id)
  return user.forNoKeyUpdate().executeTakeFirst()
}

/** Locks a live session. Returns it with its age and its secret's age in seconds. */
export function lockSession(tx: Queryable, id: string) {
  return tx
    .selectFrom('sessions')
    .select(['user_id', 'secret_hash', 'previous_hash', 'seen', 'client_hash', 'browser_hash'])
    .select(['is_token_lost', 'secret_number'])
    .select(SECRET_AGE.as('secret_age'))
    .select(sql<number>`extract(epoch FROM now() - created_at)::float8`.as('age'))
    .where('id', '=', id)
    .where(IS_LIVE)
    .forUpdate()
    .executeTakeFirst()
}

/** Records that a session was used; `seen` means that its current secret was presented. */
export async function touchSession(tx: Queryable, id: string, seen: boolean): Promise<void> {
  await tx
    .updateTable('sessions')
    .set({ used_at: sql<Date>`now()`, ...(seen && { seen }) })
    .where('id', '=', id)
    .execute()
}

export async function markTokenLost(tx: Queryable, id: string): Promise<void> {
  await tx.updateTable('sessions').set({ is_token_lost: true }).where('id', '=', id).execute()
}

type Rotation = { next: Buffer; number: number; presented: Buffer; networkHash: Buffer | null }

export async function rotateSecret(
  tx: Queryable,
  id: string,
  { next, number, presented, networkHash }: Rotation,
): Promise<void> {
  await tx
    .updateTable('sessions')
    .set({
      secret_hash: next,
      secret_number: number,
      previous_hash: presented,
      network_hash: networkHash,
      seen: false,
      rotated_at: sql<Date>`now()`,
      used_at: sql<Date>`now()`,
    })
    .where('id', '=', id)
    .execute()
}

const DEVICE = sql<Device>`json_build_object(
  'userAgent', user_agent, 'userAgentVersion', user_agent_version, 'os', os)`

/** Returns the user's live sessions, the current one first, then the newest. */
export function selectSessions(db: Queryable, viewer: Viewer): Promise<Session[]> {
  return db
    .selectFrom('sessions')
    .select(['id', DEVICE.as('device'), unixSeconds('created_at').as('createdAt')])
    .select(sql<boolean>`id = ${viewer.sessionId}`.as('current'))
    .where('user_id', '=', viewer.userId)
    .where(IS_LIVE)
    .orderBy('current', 'desc')
    .orderBy('created_at', 'desc')
    .execute()
}

export function isSessionOpen(tx: Queryable, { sessionId, userId }: Viewer): Promise<boolean> {
  const session = tx.selectFrom('sessions').select('id').where('id', '=', sessionId)
  return hasRow(session.where('user_id', '=', userId))
}

/** Returns whether a live session has this current secret. */
export function hasSecret(
  db: Queryable,
  { sessionId, userId }: Viewer,
  secretHash: Buffer,
): Promise<boolean> {
  const session = db.selectFrom('sessions').select('id').where('id', '=', sessionId)
  return hasRow(
    session.where('user_id', '=', userId).where('secret_hash', '=', secretHash).where(IS_LIVE),
  )
}

export async function deleteSession(db: Queryable, { sessionId, userId }: Viewer): Promise<void> {
  const session = db.deleteFrom('sessions').where('id', '=', sessionId)
  await session.where('user_id', '=', userId).execute()
}

/** Closes sessions of a user; their browsers then see `reason`. Returns the number of sessions. */
export async function closeSessions(
  tx: Queryable,
  userId: string,
  { reason, only, except }: { reason: string; only?: string | undefined; except?: string },
): Promise<number> {
  const { numAffectedRows = 0n } = await sql`
    WITH closed AS (
      DELETE FROM sessions WHERE user_id = ${userId}
        AND id = coalesce(${only}::uuid, id) AND id IS DISTINCT FROM ${except}::uuid
      RETURNING id, secret_hash, previous_hash
    )
    INSERT INTO closed_sessions (id, secret_hashes, reason)
    SELECT id, ARRAY[secret_hash, previous_hash], ${reason} FROM closed`.execute(tx)
  return Number(numAffectedRows)
}

export async function selectClosedReason(
  db: Queryable,
  id: string,
  secretHash: Buffer,
): Promise<string | undefined> {
  const closed = db.selectFrom('closed_sessions').select('reason').where('id', '=', id)
  const row = await closed
    .where(sql<boolean>`${secretHash} = ANY(secret_hashes)`)
    .executeTakeFirst()
  return row?.reason
}

export async function removeExpiredSessions(db: Queryable): Promise<void> {
  await db
    .deleteFrom('sessions')
    .where((eb) => eb.not(IS_LIVE))
    .execute()
  await db
    .deleteFrom('closed_sessions')
    .where('closed_at', '<', sql<Date>`now() - ${LIFETIME_SECONDS} * interval '1 second'`)
    .execute()
}

/** Returns the part of the key of access tokens that no file of `vslukh backup` contains. */
export async function selectTokenKey(db: Queryable): Promise<Buffer> {
  const { key } = await db.selectFrom('access_token_key').select('key').executeTakeFirstOrThrow()
  return key
}
