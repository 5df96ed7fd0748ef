import type { FastifyRequest } from 'fastify'
import { sql } from 'kysely'
import { hasRow, type Queryable } from '../db/database.ts'

/** A decision about another person's post or account. */
export type JournalEntry = {
  /** A moderator's e-mail, the operator's name, or `vslukh`. */
  actor: string
  action: string
  userId?: string | null | undefined
  postId?: string | null | undefined
  reason?: string | null
  details?: Record<string, unknown>
}

/** Appends a decision in its transaction, and returns the id of the entry. */
export async function appendToJournal(
  tx: Queryable,
  { actor, action, userId = null, postId = null, reason = null, details = {} }: JournalEntry,
): Promise<string> {
  const { id } = await tx
    .insertInto('journal')
    .values({
      actor,
      action,
      user_id: userId,
      post_id: postId,
      reason,
      details: JSON.stringify(details),
    })
    .returning('id')
    .executeTakeFirstOrThrow()
  return id
}

export function isInJournal(db: Queryable, action: string, userId: string): Promise<boolean> {
  const acts = db.selectFrom('journal').select('id').where('user_id', '=', userId)
  return hasRow(acts.where('action', '=', action).limit(1))
}

export type JournalFilter = {
  userId?: string | undefined
  postId?: string | undefined
  sinceSeconds?: number | undefined
}

export const ACTS_MAX = 500

/** Returns the newest entries first, at most ACTS_MAX. */
export function readJournal(db: Queryable, filter: JournalFilter) {
  return db
    .selectFrom('journal')
    .selectAll()
    .where(whereConcerns(filter))
    .orderBy('id', 'desc')
    .limit(ACTS_MAX)
    .execute()
}

function whereConcerns({ userId, postId, sinceSeconds }: JournalFilter) {
  return sql<boolean>`(${userId ?? null}::bigint IS NULL OR user_id = ${userId ?? null})
    AND (${postId ?? null}::bigint IS NULL OR post_id = ${postId ?? null})
    AND (${sinceSeconds ?? null}::float8 IS NULL OR at > now() - ${sinceSeconds ?? null} * interval '1 second')`
}

export async function countActs(db: Queryable, action: string, seconds: number): Promise<number> {
  const { acts } = await db
    .selectFrom('journal')
    .select(({ fn }) => fn.countAll<string>().as('acts'))
    .where('action', '=', action)
    .where('at', '>', sql<Date>`now() - ${seconds} * interval '1 second'`)
    .executeTakeFirstOrThrow()
  return Number(acts)
}

/** An act with the address of its author, which a court may order the operator to disclose. */
type Access = {
  action: 'register' | 'sign-in' | 'publish' | 'delete-post' | 'delete-account'
  userId: string
  postId?: string
  request: Pick<FastifyRequest, 'ip' | 'socket'>
}

export type RecordAccess = (tx: Queryable, ...accesses: Access[]) => Promise<void>

/** Creates the function that stores accesses with their addresses; undefined if `days` is 0. */
export function createAccessJournal(days: number): RecordAccess | undefined {
  if (days === 0) return undefined
  return async (tx, ...accesses) => {
    const rows = accesses.map(({ request: { ip, socket }, action, userId, postId }) => ({
      action,
      user_id: userId,
      post_id: postId ?? null,
      address: ip,
      port: socket.remoteAddress === ip ? (socket.remotePort ?? null) : null,
    }))
    if (rows.length > 0) await tx.insertInto('access_journal').values(rows).execute()
  }
}

export async function removeOldAccesses(db: Queryable, days: number): Promise<void> {
  await db
    .deleteFrom('access_journal')
    .where('at', '<', sql<Date>`now() - ${days} * interval '1 day'`)
    .execute()
}

/** Returns the newest accesses first, at most ACTS_MAX. */
export function readAccesses(db: Queryable, filter: JournalFilter) {
  return db
    .selectFrom('access_journal')
    .select(['at', 'action', 'user_id', 'post_id', 'address', 'port'])
    .where(whereConcerns(filter))
    .orderBy('id', 'desc')
    .limit(ACTS_MAX)
    .execute()
}
