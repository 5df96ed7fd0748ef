import { Kysely, PostgresDialect } from 'kysely'
import pg from 'pg'
import { surviveLostConnections } from './database.ts'
import type { Tables } from './tables.ts'

const CONNECTION_WAIT_MS = 10_000
/** A migration that waits for a table keeps its readers waiting behind it: no longer than their own patience. */
const LOCK_TIMEOUT_MS = 3000

/** The database as the start uses it, before the product's own pool exists. */
export type StartDatabase = { db: Kysely<Tables>; pool: pg.Pool }

/**
 * Lets `work` use the database at `url`, then lets go of it. Statements take as long as they need, waits for a lock 3 s,
 * a connection 10 s at most.
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
