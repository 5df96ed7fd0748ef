import { type Kysely, sql } from 'kysely'

export const isAdditive = false

/** Creates a table of one row, which describes the installation that uses the database. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`CREATE TABLE installation (
    is_only boolean PRIMARY KEY DEFAULT true CHECK (is_only),
    secret_fingerprint bytea,
    version text
  )`.execute(db)
  await sql`INSERT INTO installation DEFAULT VALUES`.execute(db)
}
