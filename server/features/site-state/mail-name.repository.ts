import { sql } from 'kysely'
import { hasCome } from '../../kernel/db/clock.ts'
import type { Queryable } from '../../kernel/db/database.ts'

/** Whether refused mails have closed registrations; no such pause is as long as two hours. */
export const IS_PAUSED = sql<boolean>`NOT coalesce(
  ${hasCome('registrations_paused_until', `interval '2 hours'`)}, true)`

/**
 * How many codes to new addresses were sent or refused for good in the last hour, but after the
 * last pause of registrations, and whether there is one now.
 */
export type NewAddressMails = { ended: number; refused: number; isPaused: boolean }

export async function countNewAddressMails(db: Queryable): Promise<NewAddressMails> {
  const { rows } = await sql<NewAddressMails>`
    SELECT counted.*, ${IS_PAUSED} AS "isPaused" FROM site_state, LATERAL (
      SELECT count(*)::int AS ended, (count(*) FILTER (WHERE state = 'refused'))::int AS refused
      FROM outbox
      WHERE is_to_new_address AND state IN ('sent', 'refused') AND at > greatest(
        now() - interval '1 hour',
        CASE WHEN registrations_paused_until <= now() THEN registrations_paused_until END)
    ) counted`.execute(db)
  return requireRow(rows)
}

function requireRow<Row>([row]: Row[]): Row {
  if (!row) throw new Error('the site has no state')
  return row
}

/** Reads one row, so that a wall without refusals counts nothing before each mail. */
export async function wereMailsRefused(db: Queryable): Promise<boolean> {
  const { rows } = await sql`
    SELECT FROM site_state WHERE mails_refused_at > now() - interval '1 hour'`.execute(db)
  return rows.length > 0
}

/** After so long without too many refusals, the operator is told of the next. */
const EPISODE = sql.raw(`interval '3 hours'`)

/** Locks the state of the site, so that refusals are judged one after another. */
export async function lockRefusals(tx: Queryable): Promise<{ isTold: boolean }> {
  const { rows } = await sql<{ isTold: boolean }>`
    SELECT coalesce(mails_refused_at > now() - ${EPISODE}, false) AS "isTold"
    FROM site_state FOR UPDATE`.execute(tx)
  return requireRow(rows)
}

export async function storeRefusals(tx: Queryable): Promise<void> {
  await tx.updateTable('site_state').set({ mails_refused_at: sql<Date>`now()` }).execute()
}

/** Closes registrations for an hour. */
export async function pauseRegistrations(tx: Queryable): Promise<void> {
  const until = sql<Date>`now() + interval '1 hour'`
  await tx.updateTable('site_state').set({ registrations_paused_until: until }).execute()
}
