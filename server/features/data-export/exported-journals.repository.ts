import { sql } from 'kysely'
import type { Queryable } from '../../kernel/db/database.ts'

const STEP = sql.raw('500')

/** A decision about a user or their posts, without who made it, which is about somebody else. */
export type ExportedDecision = {
  id: string
  at: string
  action: string
  postId: string | null
  reason: string | null
  text: string | null
}

/** Returns some of the decisions about a user, after `afterId`, by ascending id. */
export async function selectOwnDecisions(
  db: Queryable,
  userId: string,
  afterId: string,
): Promise<ExportedDecision[]> {
  const { rows } = await sql<ExportedDecision>`
    SELECT id::text, at, action, post_id::text AS "postId", reason, details->>'text' AS text FROM journal
    WHERE user_id = ${userId}::bigint AND id > ${afterId}::bigint ORDER BY journal.id LIMIT ${STEP}`.execute(
    db,
  )
  return rows
}

/** An address from which a user acted. `at` has microseconds. */
export type ExportedAccess = {
  id: string
  at: string
  action: string
  postId: string | null
  address: string
  port: number | null
}

/** Returns some of the addresses from which a user acted, after the row `after`, by time. */
export async function selectOwnAccesses(
  db: Queryable,
  userId: string,
  after: Pick<ExportedAccess, 'id' | 'at'> | undefined,
): Promise<ExportedAccess[]> {
  const { at = '-infinity', id = '0' } = after ?? {}
  const { rows } = await sql<ExportedAccess>`
    SELECT id::text, to_json(at)#>>'{}' AS at, action, post_id::text AS "postId", address, port
    FROM access_journal
    WHERE user_id = ${userId}::bigint AND (at, id) > (${at}::timestamptz, ${id}::bigint)
    ORDER BY access_journal.at, access_journal.id LIMIT ${STEP}`.execute(db)
  return rows
}
