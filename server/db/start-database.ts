import { Kysely, PostgresDialect } from 'kysely'
import pg from 'pg'
import { surviveLostConnections } from './database.ts'
import type { Tables } from './tables.ts'

const CONNECTION_WAIT_MS = 10_000
/** Readers queue behind a migration that waits for a table: it may not wait longer than their own timeout. */
const LOCK_TIMEOUT_MS = 3000

/** The database during the start, before the product's own pools exist. */
export type StartDatabase = { db: Kysely<Tables>; pool: pg.Pool }

/**
 * Runs `work` with the database at `url` and closes it afterwards. Statements may take as long as they need, waiting for a
 * lock 3 s, and connecting 10 s.
 */
export async function withStartDatabase<T>(
  url: string,
  work: (database: StartDatabase) => Promise<T>,
): Promise<T> {
  const pool = new pg.Pool({
    connectionString: url,
    max: 2,
    connectionTimeoutMillis: CONNECTION_WAIT_MS,
    lock_timeout: LOCK_TIMEOUT_MS,
    application_name: 'vslukh start',
  })
  surviveLostConnections(pool, () => {})
  try {
    return await work({ db: new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) }), pool })
  } finally {
    await pool.end()
  }
}
