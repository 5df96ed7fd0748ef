import { Kysely, PostgresDialect, sql, type Transaction } from 'kysely'
import pg from 'pg'
import { DatabaseClient, databaseDialect, UnnamedStatementsClient } from './database-client.ts'
import { isConnectionLost } from './database-errors.ts'
import { DatabaseAwayError, type Outage } from './outage.ts'
import type { Tables } from './tables.ts'

export type Db = Kysely<Tables>
/** The database, or a transaction that the caller has begun. */
export type Queryable = Db | Transaction<Tables>

export type OpenDatabase = { db: Db; pool: pg.Pool; close(): Promise<void> }

export type PoolLimits = {
  connections?: number
  connectionWaitMs?: number
  statementTimeoutMs?: number
  applicationName?: string
  /** A pooler may run each transaction on another connection, which knows no prepared statement. */
  isBehindPooler?: boolean
  /** While the database is away, the pool refuses at once, or waits if `waitsDuringOutage`. */
  outage?: Outage
  waitsDuringOutage?: boolean
}

const CONNECTIONS = 20
const CONNECTION_WAIT_MS = 1000
/** A working server answers within this time after it has cancelled a statement. */
const ANSWER_MS = 500

/**
 * A statement may take 3 s, waiting for a connection 1 s, unless set. Connects when first asked.
 */
export function openDatabase(
  url: string,
  onError: (error: Error) => void,
  {
    connections = CONNECTIONS,
    connectionWaitMs = CONNECTION_WAIT_MS,
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
    connectionTimeoutMillis: connectionWaitMs,
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

/** An idle connection that broke would otherwise end the process. */
function surviveLostConnections(pool: pg.Pool, onError: (error: Error) => void): void {
  pool.on('error', onError)
  pool.on('connect', (client) => client.on('error', onError))
}

const START_CONNECTION_WAIT_MS = 10_000
/** Readers queue behind a migration that waits for a table, and have this timeout themselves. */
const LOCK_TIMEOUT_MS = 3000

export type StartDatabase = { db: Db; pool: pg.Pool }

/** Runs `work` with a pool of its own: statements have no timeout, locks 3 s, connecting 10 s. */
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

/** Whether an id from a client can name a row: a positive bigint of at most 18 digits. */
export function isRowId(id: string): boolean {
  return /^[1-9]\d{0,17}$/.test(id)
}

/** Makes the literal of an array, which is quicker than pg's escaping of each string. */
export function idArray(ids: string[]): string {
  return `{${ids.join(',')}}`
}

/** No user has this id: it stands for visitors and for ids that cannot name a user. */
export const NO_USER = '0'

type Connected = (
  error: Error | undefined,
  client: pg.PoolClient | undefined,
  done: pg.PoolClient['release'],
) => void

/** Refuses while its database is away, or makes callers wait if `waitsDuringOutage`. */
class GuardedPool extends pg.Pool {
  readonly #outage: Outage
  readonly #waitsDuringOutage: boolean

  constructor(config: pg.PoolConfig, outage: Outage, waitsDuringOutage: boolean) {
    super(config)
    this.#outage = outage
    this.#waitsDuringOutage = waitsDuringOutage
  }

  override connect(): Promise<pg.PoolClient>
  override connect(callback: Connected): void
  override connect(callback?: Connected): Promise<pg.PoolClient> | undefined {
    const connecting = this.#waitsDuringOutage ? this.#connectOnceBack() : this.#connectNow()
    if (!callback) return connecting
    connecting.then(
      (client) => callback(undefined, client, client.release),
      (error) => callback(error, undefined, () => {}),
    )
    return undefined
  }

  #connectNow(): Promise<pg.PoolClient> {
    if (this.#outage.isAway()) return Promise.reject(new DatabaseAwayError())
    const connecting = super.connect()
    connecting.catch(this.#outage.noteFailure)
    return connecting
  }

  async #connectOnceBack(): Promise<pg.PoolClient> {
    for (;;) {
      await this.#outage.whenWritable()
      try {
        return await this.#connectNow()
      } catch (error) {
        const mayWait = error instanceof Error && isConnectionLost(error)
        if (!mayWait || this.#outage.isClosed()) throw error
      }
    }
  }
}

export function unixSeconds(time: string) {
  return sql.raw<number>(`floor(extract(epoch FROM ${time}))::float8`)
}
