import { type Kysely, sql } from 'kysely'

/** A server without it leaves the column as it is, which is then in the past. */
export const isAdditive = true

/** Lets a limit tell what a clock that was ahead has counted. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`ALTER TABLE rate_limits ADD charged_at timestamptz NOT NULL DEFAULT now()`.execute(db)
}
