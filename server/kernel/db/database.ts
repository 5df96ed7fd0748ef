import { AsyncLocalStorage } from 'node:async_hooks'
import { Kysely, PostgresDialect, PostgresDriver, sql, type Transaction } from 'kysely'
import pg from 'pg'
import { isReadOnly } from './database-errors.ts'
import { GuardedPool } from './guarded-pool.ts'
import type { Outage } from './outage.ts'
import { SessionClient, type SessionConfig } from './session.ts'
import type { Tables } from './tables.ts'

export type Db = Kysely<Tables>
export type Queryable = Db | Transaction<Tables>

export type OpenDatabase = { db: Db; pool: pg.Pool; close(): Promise<void> }

export type PoolLimits = {
  connections?: number
  connectionWaitMs?: number
  statementTimeoutMs?: number
  /** The longest wait for a lock; as long as the statement may take unless set. */
  lockTimeoutMs?: number
  applicationName?: string
  /** Whether connections go through a pooler, which does not keep prepared statements. */
  isBehindPooler?: boolean
  /** While the database is away, the pool refuses at once, or waits if `waitsDuringOutage`. */
  outage?: Outage
  waitsDuringOutage?: boolean
}

/** How many connections requests share. */
export const CONNECTIONS = 20
const CONNECTION_WAIT_MS = 1000
/** How long to wait for the answer to a statement that the server has cancelled. */
const ANSWER_MS = 500

/** Creates a pool, which connects at the first query. `onError` gets the errors of connections. */
export function openDatabase(
  url: string,
  onError: (error: Error) => void,
  {
    connections = CONNECTIONS,
    connectionWaitMs = CONNECTION_WAIT_MS,
    statementTimeoutMs = 3000,
    lockTimeoutMs = 0,
    applicationName = 'vslukh',
    isBehindPooler = false,
    outage,
    waitsDuringOutage = false,
  }: PoolLimits = {},
): OpenDatabase {
  const config: pg.PoolConfig & ClientConfig = {
    connectionString: url,
    Client: DatabaseClient,
    isBehindPooler,
    max: connections,
    connectionTimeoutMillis: connectionWaitMs,
    query_timeout: statementTimeoutMs + ANSWER_MS,
    application_name: applicationName,
    session: {
      statement_timeout: `${statementTimeoutMs}`,
      lock_timeout: `${lockTimeoutMs}`,
      idle_in_transaction_session_timeout: `${statementTimeoutMs * 2}`,
    },
  }
  const pool = outage ? new GuardedPool(config, outage, waitsDuringOutage) : new pg.Pool(config)
  surviveLostConnections(pool, onError)
  const dialect = new PostgresDialect({ pool })
  const db = new Kysely<Tables>({
    dialect: Object.assign(dialect, { createDriver: () => new Driver({ pool }) }),
  })
  return { db, pool, close: () => pool.end() }
}

/** Handles connection errors: a broken idle connection would otherwise end the process. */
function surviveLostConnections(pool: pg.Pool, onError: (error: Error) => void): void {
  pool.on('error', onError)
  pool.on('connect', (client) => client.on('error', onError))
}

const START_CONNECTION_WAIT_MS = 10_000
/** The longest wait of a migration for a lock, because readers queue behind it. */
const LOCK_TIMEOUT_MS = 3000

export type StartDatabase = { db: Db; pool: pg.Pool }

/** Runs `work` with a pool of its own: statements have no timeout, locks 3 s, connecting 10 s. */
export async function withStartDatabase<T>(
  url: string,
  work: (database: StartDatabase) => Promise<T>,
): Promise<T> {
  const config: pg.PoolConfig & SessionConfig = {
    connectionString: url,
    Client: SessionClient,
    max: 2,
    connectionTimeoutMillis: START_CONNECTION_WAIT_MS,
    application_name: 'vslukh start',
    session: { lock_timeout: `${LOCK_TIMEOUT_MS}` },
  }
  const pool = new pg.Pool(config)
  surviveLostConnections(pool, () => {})
  try {
    return await work({ db: new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) }), pool })
  } finally {
    await pool.end()
  }
}

/** Opens one connection outside the pools. Disposing of it ends it. */
export async function openClient(url: string, name: string, limits: pg.ClientConfig = {}) {
  const client = new SessionClient({
    connectionString: url,
    application_name: name,
    connectionTimeoutMillis: START_CONNECTION_WAIT_MS,
    ...limits,
  })
  await client.connect()
  return Object.assign(client, { [Symbol.asyncDispose]: () => client.end() })
}

/**
 * How long a write of rows that many people share waits for a lock. The gate admits three times as
 * many calls as there are connections. If all of them waited for one lock, the next call would wait
 * three times as long for a connection, which is less than a second.
 */
export const LOCK_WAIT_MS = 250

/** Makes the statements of a transaction fail if they wait for a lock for longer. */
export async function limitLockWait(tx: Queryable, milliseconds: number): Promise<void> {
  await sql.raw(`SET LOCAL lock_timeout = ${milliseconds}`).execute(tx)
}

/** Returns whether an id from a client can be the id of a row. */
export function isRowId(id: string): boolean {
  return /^[1-9]\d{0,17}$/.test(id)
}

/** Returns the literal of an array, which is faster than pg's escaping of each string. */
export function idArray(ids: string[]): string {
  return `{${ids.join(',')}}`
}

export async function hasRow(query: { executeTakeFirst(): Promise<unknown> }): Promise<boolean> {
  return (await query.executeTakeFirst()) !== undefined
}

/** No user has this id: it stands for visitors and for ids that cannot name a user. */
export const NO_USER = '0'

export function unixSeconds(time: string) {
  return sql.raw<number>(`floor(extract(epoch FROM ${time}))::float8`)
}

/** The most prepared texts of a connection. Each takes some 100 KB; the product has about 100. */
const TEXTS_MAX = 200

type ClientConfig = SessionConfig & { isBehindPooler?: boolean }

class DatabaseClient extends SessionClient {
  readonly #names = new Map<string, string>()
  #named = 0
  readonly #namesMax: number

  constructor(config?: ClientConfig) {
    super(config)
    this.#namesMax = config?.isBehindPooler ? 0 : TEXTS_MAX
  }

  // biome-ignore lint/suspicious/noExplicitAny: pg.Client.query has a dozen overloads; only the promise of (text, values) changes
  override query(config: any, values?: any, callback?: any): any {
    const measured = measureQuery()
    const isPlain = typeof config === 'string' && Array.isArray(values) && values.length > 0
    const result = isPlain
      ? this.#queryPrepared(config, values, callback)
      : super.query(config, values, callback)
    if (result instanceof Promise) {
      result.then(measured, (error) => {
        measured?.()
        this.#endIfUseless(error)
      })
    }
    return result
  }

  /**
   * Prepares a text once. PostgreSQL refuses a prepared one after a newer release has given a view more
   * columns; it is prepared anew then, which helps outside a transaction, and at the next attempt inside.
   */
  // biome-ignore lint/suspicious/noExplicitAny: as for `query`
  #queryPrepared(text: string, values: unknown[], callback?: any): any {
    const send = () => super.query({ name: this.#statementNameOf(text), text, values }, callback)
    const result: unknown = send()
    if (!(result instanceof Promise)) return result
    return result.catch((error) => {
      if (!/cached plan must not change/.test(error.message)) throw error
      this.#names.delete(text)
      return send().catch(() => Promise.reject(error))
    })
  }

  /** Returns undefined at the maximum: texts that vary must not exhaust PostgreSQL's memory. */
  #statementNameOf(text: string): string | undefined {
    const name = this.#names.get(text)
    if (name !== undefined || this.#names.size >= this.#namesMax) return name
    const newName = `s${this.#named++}`
    this.#names.set(text, newName)
    return newName
  }

  /** Closes a connection whose server is silent or read-only, so that the pool opens a new one. */
  #endIfUseless(error: Error): void {
    const isUseless = error.message === 'Query read timeout' || isReadOnly(error)
    if (isUseless) this.end().catch(() => {})
  }
}

type Connection = Parameters<PostgresDriver['rollbackTransaction']>[0]

class Driver extends PostgresDriver {
  /** ROLLBACK fails on a lost connection, and would hide the error that ended the transaction. */
  override async rollbackTransaction(connection: Connection): Promise<void> {
    await super.rollbackTransaction(connection).catch(() => {})
  }
}

/** The total milliseconds of queries; each of several concurrent queries counts in full. */
export type QueryTime = { ms: number }

const current = new AsyncLocalStorage<QueryTime>()

/** Adds the time of the queries that `work` starts to `time`; a shared read counts for its first call. */
export function addQueryTime<T>(time: QueryTime, work: () => T): T {
  return current.run(time, work)
}

function measureQuery(): (() => void) | undefined {
  const time = current.getStore()
  if (!time) return undefined
  const since = performance.now()
  return () => {
    time.ms += performance.now() - since
  }
}
