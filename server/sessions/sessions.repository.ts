import { type ExpressionBuilder, sql } from 'kysely'
import { SESSIONS_MAX } from '../../contract/constants.ts'
import type { Device } from '../../contract/fields.ts'
import type { Session } from '../../contract/sessions.ts'
import type { Queryable } from '../db/database.ts'
import { idArray } from '../db/row-id.ts'
import type { Tables } from '../db/tables.ts'
import type { Viewer } from '../http/authenticate.ts'
import { IDLE_SECONDS, LIFETIME_SECONDS } from './cookie.ts'

/** Live: used within 30 days, and made within 90. */
function live(eb: ExpressionBuilder<Tables, 'sessions'>) {
  return eb.and([
    eb('used_at', '>', sql<Date>`now() - ${IDLE_SECONDS} * interval '1 second'`),
    eb('created_at', '>', sql<Date>`now() - ${LIFETIME_SECONDS} * interval '1 second'`),
  ])
}

/** Whether each of some sessions is live and its user's, in one statement and in the order asked. */
export async function areSessionsLive(db: Queryable, viewers: Viewer[]): Promise<boolean[]> {
  const rows = await db
    .selectFrom('sessions')
    .select(['id', 'user_id'])
    .where(
      'id',
      '=',
      sql<string>`ANY(${idArray(viewers.map(({ sessionId }) => sessionId))}::uuid[])`,
    )
    .where(live)
    .execute()
  const owners = new Map(rows.map((row) => [row.id, row.user_id]))
  return viewers.map(({ sessionId, userId }) => owners.get(sessionId) === userId)
}

export type NewSession = {
  id: string
  userId: string
  secretHash: Buffer
  clientHash: Buffer
  device: Device
}

/** Adds a session and removes the user's oldest past the tenth; the user's row keeps two sign-ins apart. */
export async function insertSession(tx: Queryable, session: NewSession): Promise<void> {
  await tx
    .selectFrom('users')
    .select('id')
    .where('id', '=', session.userId)
    .forNoKeyUpdate()
    .execute()
  await tx
    .insertInto('sessions')
    .values({
      id: session.id,
      user_id: session.userId,
      secret_hash: session.secretHash,
      previous_hash: null,
      seen: true,
      client_hash: session.clientHash,
      user_agent: session.device.userAgent,
      user_agent_version: session.device.userAgentVersion,
      os: session.device.os,
    })
    .execute()
  await tx
    .deleteFrom('sessions')
    .where('id', 'in', (eb) =>
      eb
        .selectFrom('sessions')
        .select('id')
        .where('user_id', '=', session.userId)
        .where('id', '!=', session.id)
        .orderBy('created_at', 'desc')
        .orderBy('id')
        .offset(SESSIONS_MAX - 1),
    )
    .execute()
}

/** A live session locked for a refresh, with the ages its rules need (in seconds); undefined where there is none. */
export function lockSession(tx: Queryable, id: string) {
  return (
    tx
      .selectFrom('sessions')
      .select(['user_id', 'secret_hash', 'previous_hash', 'seen', 'client_hash'])
      // A secret from the future was set by a clock that was ahead: it is old rather than young until then.
      .select(sql<number>`abs(extract(epoch FROM now() - rotated_at))::float8`.as('secret_age'))
      .select(sql<number>`extract(epoch FROM now() - created_at)::float8`.as('age'))
      .where('id', '=', id)
      .where(live)
      .forUpdate()
      .executeTakeFirst()
  )
}

/** Notes that a session was used, and that its current secret came back where `seen`. */
export async function touchSession(tx: Queryable, id: string, seen: boolean): Promise<void> {
  await tx
    .updateTable('sessions')
    .set({ used_at: sql<Date>`now()`, ...(seen && { seen }) })
    .where('id', '=', id)
    .execute()
}

/** Gives a session a new secret; the one presented stays as the one before. */
export async function rotateSecret(
  tx: Queryable,
  id: string,
  { next, presented }: { next: Buffer; presented: Buffer },
): Promise<void> {
  await tx
    .updateTable('sessions')
    .set({
      secret_hash: next,
      previous_hash: presented,
      seen: false,
      rotated_at: sql<Date>`now()`,
      used_at: sql<Date>`now()`,
    })
    .where('id', '=', id)
    .execute()
}

/** The user's live sessions, the current one first, then the newest. */
export async function selectSessions(db: Queryable, viewer: Viewer): Promise<Session[]> {
  const rows = await db
    .selectFrom('sessions')
    .select(['id', 'user_agent', 'user_agent_version', 'os'])
    .select(sql<number>`floor(extract(epoch FROM created_at))::float8`.as('created'))
    .where('user_id', '=', viewer.userId)
    .where(live)
    .orderBy((eb) => eb('id', '=', viewer.sessionId), 'desc')
    .orderBy('created_at', 'desc')
    .execute()
  return rows.map((row) => ({
    id: row.id,
    current: row.id === viewer.sessionId,
    createdAt: row.created,
    device: { userAgent: row.user_agent, userAgentVersion: row.user_agent_version, os: row.os },
  }))
}

/** Removes one session of a user; false when the user has no such one. */
export async function deleteSession(
  db: Queryable,
  { sessionId, userId }: Viewer,
): Promise<boolean> {
  const { numDeletedRows } = await db
    .deleteFrom('sessions')
    .where('id', '=', sessionId)
    .where('user_id', '=', userId)
    .executeTakeFirst()
  return numDeletedRows > 0n
}

export async function deleteOtherSessions(db: Queryable, viewer: Viewer): Promise<void> {
  await db
    .deleteFrom('sessions')
    .where('user_id', '=', viewer.userId)
    .where('id', '!=', viewer.sessionId)
    .execute()
}

export async function deleteAllSessions(db: Queryable, userId: string): Promise<void> {
  await db.deleteFrom('sessions').where('user_id', '=', userId).execute()
}

/** How many sessions there are, and how many of them are over by the database's clock. */
export async function countExpired(db: Queryable): Promise<{ expired: number; all: number }> {
  const counted = await db
    .selectFrom('sessions')
    .select((eb) => eb.fn.countAll<string>().as('all'))
    .select((eb) => eb.fn.countAll<string>().filterWhere(live(eb)).as('alive'))
    .executeTakeFirstOrThrow()
  return { expired: Number(counted.all) - Number(counted.alive), all: Number(counted.all) }
}

export async function deleteDeadSessions(db: Queryable): Promise<void> {
  await db
    .deleteFrom('sessions')
    .where((eb) => eb.not(live(eb)))
    .execute()
}

/** Remembers that a client has signed in as a user; returns false where that was known. */
export async function insertKnownClient(
  tx: Queryable,
  client: { userId: string; clientHash: Buffer },
): Promise<boolean> {
  const { numInsertedOrUpdatedRows } = await tx
    .insertInto('known_clients')
    .values({ user_id: client.userId, client_hash: client.clientHash })
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirst()
  return numInsertedOrUpdatedRows === 1n
}

export async function isClientKnown(
  db: Queryable,
  client: { userId: string; clientHash: Buffer },
): Promise<boolean> {
  const row = await db
    .selectFrom('known_clients')
    .select('user_id')
    .where('user_id', '=', client.userId)
    .where('client_hash', '=', client.clientHash)
    .executeTakeFirst()
  return row !== undefined
}
