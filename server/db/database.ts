import { Kysely, type Transaction } from 'kysely'
import pg from 'pg'
import { DatabaseClient, DatabaseDialect } from './database-client.ts'
import type { Tables } from './tables.ts'

export type Db = Kysely<Tables>
/** What a repository takes: the database, or a transaction that its caller has begun. */
export type Queryable = Db | Transaction<Tables>

export type OpenDatabase = { db: Db; pool: pg.Pool; close(): Promise<void> }

export type PoolLimits = {
  connections: number
  statementTimeoutMs: number
  /** Names these connections in PostgreSQL's own views. */
  applicationName?: string
}

const CONNECTION_WAIT_MS = 1000
const DEFAULT_LIMITS: PoolLimits = { connections: 20, statementTimeoutMs: 3000 }
/** A server that works answers within this time after it has cancelled a statement. */
const ANSWER_MS = 500

/**
 * Opens a pool on a PostgreSQL database; nothing connects until the first query. `onError` is called with the error of an
 * idle connection that broke. By default a statement may take 3 s; a query waits 1 s at most for a connection. A server that
 * does not answer at all is given up half a second after the statement's timeout.
 */
export function openDatabase(
  url: string,
  onError: (error: Error) => void,
  { connections, statementTimeoutMs, applicationName = 'vslukh' }: PoolLimits = DEFAULT_LIMITS,
): OpenDatabase {
  const pool = new pg.Pool({
    connectionString: url,
    Client: DatabaseClient,
    max: connections,
    connectionTimeoutMillis: CONNECTION_WAIT_MS,
    statement_timeout: statementTimeoutMs,
    query_timeout: statementTimeoutMs + ANSWER_MS,
    idle_in_transaction_session_timeout: statementTimeoutMs * 2,
    application_name: applicationName,
  })
  surviveLostConnections(pool, onError)
  const db = new Kysely<Tables>({ dialect: new DatabaseDialect({ pool }) })
  return { db, pool, close: () => pool.end() }
}

/** Keeps a broken connection from ending the process; its query rejects in any case. */
export function surviveLostConnections(pool: pg.Pool, onError: (error: Error) => void): void {
  pool.on('error', onError)
  pool.on('connect', (client) => client.on('error', onError))
}
