import { type Kysely, sql } from 'kysely'

export const isAdditive = false

const STATEMENTS = [
  // Every limit begins anew.
  'DROP TABLE rate_limits, code_mails',
  'CREATE TABLE rate_limits (key text PRIMARY KEY, arrival timestamptz NOT NULL)',
  'CREATE INDEX rate_limits_arrival ON rate_limits (arrival)',
]

/** Counts by the arrival of the next event (GCRA) instead of windows. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db)
}
