import { Kysely, PostgresDialect, type Transaction } from 'kysely'
import pg from 'pg'
import type { Tables } from './tables.ts'

export type Db = Kysely<Tables>
/** What a store takes: the database, or a transaction its caller has begun. */
export type Queryable = Db | Transaction<Tables>

export type OpenDatabase = { db: Db; pool: pg.Pool; close(): Promise<void> }

type PoolLimits = { connections: number; statementTimeoutMs: number }

const CONNECTION_WAIT_MS = 1000
const DEFAULT_LIMITS: PoolLimits = { connections: 20, statementTimeoutMs: 3000 }
/** A server that is there answers so soon after it has ended a statement. */
const ANSWER_MS = 500

/** Each prepared text is a plan of some 100 KB on each connection; the product has fewer texts than this. */
const TEXTS_MAX = 150
const names = new Map<string, string>()

/**
 * Statements with parameters are prepared once a connection, by a name their text decides. Texts past the bound have none
 * and are planned anew each time: were one to vary with its values, PostgreSQL's memory would stay what it is.
 */
function nameOf(text: string): string | undefined {
  const known = names.get(text)
  if (known !== undefined || names.size >= TEXTS_MAX) return known
  const name = `s${names.size}`
  names.set(text, name)
  return name
}

class PreparingClient extends pg.Client {
  // biome-ignore lint/suspicious/noExplicitAny: pg.Client.query has a dozen overloads; only the promise of (text, values) changes
  override query(config: any, values?: any, callback?: any): any {
    const isPlain = typeof config === 'string' && Array.isArray(values) && values.length > 0
    const result = isPlain
      ? super.query({ name: nameOf(config), text: config, values }, callback)
      : super.query(config, values, callback)
    if (result instanceof Promise) result.catch((error) => this.#leaveSilence(error))
    return result
  }

  /** A server that did not answer may be frozen or gone: its connection is of no more use to anybody. */
  #leaveSilence(error: Error): void {
    if (error.message === 'Query read timeout') this.end().catch(() => {})
  }
}

/**
 * Opens a pool on a PostgreSQL database; nothing connects until the first query. `onError` hears of idle connections
 * that broke. Unless told otherwise a statement runs 3 s at most, and a query waits 1 s at most for a connection. A server
 * that says nothing at all is given up soon after that.
 */
export function openDatabase(
  url: string,
  onError: (error: Error) => void,
  { connections, statementTimeoutMs }: PoolLimits = DEFAULT_LIMITS,
): OpenDatabase {
  const pool = new pg.Pool({
    connectionString: url,
    Client: PreparingClient,
    max: connections,
    connectionTimeoutMillis: CONNECTION_WAIT_MS,
    statement_timeout: statementTimeoutMs,
    query_timeout: statementTimeoutMs + ANSWER_MS,
    idle_in_transaction_session_timeout: statementTimeoutMs * 2,
    application_name: 'vslukh',
  })
  surviveLostConnections(pool, onError)
  const db = new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) })
  return { db, pool, close: () => pool.end() }
}

/** A connection that breaks ends its query with an error; without these listeners it would end the process too. */
export function surviveLostConnections(pool: pg.Pool, onError: (error: Error) => void): void {
  pool.on('error', onError)
  pool.on('connect', (client) => client.on('error', onError))
}
