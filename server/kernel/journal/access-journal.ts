import type { FastifyRequest } from 'fastify'
import { sql } from 'kysely'
import type { Queryable } from '../db/database.ts'
import { ACTS_MAX, concerns, type JournalFilter } from './journal.ts'

/** An act whose author an operator may be ordered to find by their address. */
type Access = {
  action: 'register' | 'sign-in' | 'publish' | 'delete-post' | 'delete-account'
  userId: string
  postId?: string
  request: Pick<FastifyRequest, 'ip' | 'socket'>
}

/** Writes acts with their addresses and ports, in the transaction of the acts. */
export type NoteAccess = (tx: Queryable, ...accesses: Access[]) => Promise<void>

/**
 * Makes the function that records such acts; undefined with 0 days. The rows have a table of their
 * own, because they end with their term, and the journal never does.
 */
export function createAccessJournal(days: number): NoteAccess | undefined {
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

export function readAccesses(db: Queryable, filter: JournalFilter) {
  return db
    .selectFrom('access_journal')
    .select(['at', 'action', 'user_id', 'post_id', 'address', 'port'])
    .where(concerns(filter))
    .orderBy('id', 'desc')
    .limit(ACTS_MAX)
    .execute()
}
