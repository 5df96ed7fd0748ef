import { sql } from 'kysely'
import type { Queryable } from '../db/database.ts'

/** One act of somebody who decides over others: a moderator, an operator, or the product itself. */
export type JournalEntry = {
  /** Who acted: a moderator's e-mail, the operator's name, or `vslukh`. */
  actor: string
  /** What was done, such as `post.remove`. */
  action: string
  userId?: string | null
  postId?: string | null
  reason?: string | null
  /** What else belongs to the act, such as the text of a post as it was. */
  details?: Record<string, unknown>
}

/**
 * Appends an act to the journal, which nobody can change afterwards. To be called in the transaction of the act. Returns the
 * id of its row.
 */
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

/** Whether an act over a user is in the journal. */
export async function isInJournal(db: Queryable, action: string, userId: string): Promise<boolean> {
  const row = await db
    .selectFrom('journal')
    .select('id')
    .where('user_id', '=', userId)
    .where('action', '=', action)
    .limit(1)
    .executeTakeFirst()
  return row !== undefined
}

/** Which acts to read: those that concern a user or a post, or that are not older than so many seconds. */
export type JournalFilter = { userId?: string; postId?: string; sinceSeconds?: number }

/** Acts read at once: as many as a person reads. */
export const ACTS_MAX = 500

/** Returns the newest acts, newest first. */
export function readJournal(db: Queryable, filter: JournalFilter) {
  return db
    .selectFrom('journal')
    .selectAll()
    .where(concerns(filter))
    .orderBy('id', 'desc')
    .limit(ACTS_MAX)
    .execute()
}

/** The condition that a row of a journal is one that the filter asks for. */
export function concerns({ userId, postId, sinceSeconds }: JournalFilter) {
  return sql<boolean>`(${userId ?? null}::bigint IS NULL OR user_id = ${userId ?? null})
    AND (${postId ?? null}::bigint IS NULL OR post_id = ${postId ?? null})
    AND (${sinceSeconds ?? null}::float8 IS NULL OR at > now() - ${sinceSeconds ?? null} * interval '1 second')`
}

/** How often an act was done within the last so many seconds. */
export async function countActs(db: Queryable, action: string, seconds: number): Promise<number> {
  const { acts } = await db
    .selectFrom('journal')
    .select(({ fn }) => fn.countAll<string>().as('acts'))
    .where('action', '=', action)
    .where('at', '>', sql<Date>`now() - ${seconds} * interval '1 second'`)
    .executeTakeFirstOrThrow()
  return Number(acts)
}
