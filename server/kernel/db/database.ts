import { Kysely, PostgresDialect, type Transaction } from 'kysely'
import pg from 'pg'
import { DatabaseClient, databaseDialect, UnnamedStatementsClient } from './database-client.ts'
import { GuardedPool } from './guarded-pool.ts'
import type { Outage } from './outage.ts'
import type { Tables } from './tables.ts'

export type Db = Kysely<Tables>
/** What a repository takes: the database, or a transaction that its caller has begun. */
export type Queryable = Db | Transaction<Tables>

export type OpenDatabase = { db: Db; pool: pg.Pool; close(): Promise<void> }

export type PoolLimits = {
  /** CONNECTIONS unless set. */
  connections?: number
  /** 3000 unless set. */
  statementTimeoutMs?: number
  /** Names these connections in PostgreSQL's own views. */
  applicationName?: string
  /** Whether a pooler may hand each transaction to another connection, which does not know what the last one has prepared. */
  isBehindPooler?: boolean
  /** By which the pool knows that the database is away: it then refuses without trying, or waits where it `waitsDuringOutage`. */
  outage?: Outage
  waitsDuringOutage?: boolean
}

/** How many connections a pool has. */
const CONNECTIONS = 20
const CONNECTION_WAIT_MS = 1000
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
  {
    connections = CONNECTIONS,
    statementTimeoutMs = 3000,
    applicationName = 'vslukh',
    isBehindPooler = false,
    outage,
    waitsDuringOutage = false,
  }: PoolLimits = {},
): OpenDatabase {
  const config: pg.PoolConfig = {
    connectionString: url,
    Client: isBehindPooler ? UnnamedStatementsClient : DatabaseClient,
    max: connections,
    connectionTimeoutMillis: CONNECTION_WAIT_MS,
    statement_timeout: statementTimeoutMs,
    query_timeout: statementTimeoutMs + ANSWER_MS,
    idle_in_transaction_session_timeout: statementTimeoutMs * 2,
    application_name: applicationName,
  }
  const pool = outage ? new GuardedPool(config, outage, waitsDuringOutage) : new pg.Pool(config)
  surviveLostConnections(pool, onError)
  const db = new Kysely<Tables>({ dialect: databaseDialect({ pool }) })
  return { db, pool, close: () => pool.end() }
}

/** Keeps a broken connection from ending the process; its query rejects in any case. */
function surviveLostConnections(pool: pg.Pool, onError: (error: Error) => void): void {
  pool.on('error', onError)
  pool.on('connect', (client) => client.on('error', onError))
}

const START_CONNECTION_WAIT_MS = 10_000
/** Readers queue behind a migration that waits for a table: it may not wait longer than their own timeout. */
const LOCK_TIMEOUT_MS = 3000

/** The database during the start, before the product's own pools exist. */
export type StartDatabase = { db: Db; pool: pg.Pool }

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
    connectionTimeoutMillis: START_CONNECTION_WAIT_MS,
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

/** Whether an opaque id from a client can name a row at all: a positive bigint of at most 18 digits. */
export function isRowId(id: string): boolean {
  return /^[1-9]\d{0,17}$/.test(id)
}

/** Returns row ids as the literal of a PostgreSQL array, which is quicker than an array that pg escapes string by string. */
export function idArray(ids: string[]): string {
  return `{${ids.join(',')}}`
}

/** No user has this id. It stands for a visitor, and for ids from a client that cannot name a user. */
export const NO_USER = '0'
