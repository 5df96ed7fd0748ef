import { AsyncLocalStorage } from 'node:async_hooks'
import { PostgresDialect, type PostgresDialectConfig, PostgresDriver } from 'kysely'
import pg from 'pg'
import { isReadOnly, noteDatabaseError } from './database-errors.ts'

/** A prepared text is a plan of some 100 KB on each connection. The product has about 100 texts. */
const TEXTS_MAX = 200
const names = new Map<string, string>()

/** Texts past the bound have no name: texts that vary must not exhaust PostgreSQL's memory. */
function nameOf(text: string): string | undefined {
  const known = names.get(text)
  if (known !== undefined || names.size >= TEXTS_MAX) return known
  const name = `s${names.size}`
  names.set(text, name)
  return name
}

export class DatabaseClient extends pg.Client {
  constructor(config?: pg.ClientConfig) {
    super(config)
    this.on('error', noteDatabaseError)
  }

  // biome-ignore lint/suspicious/noExplicitAny: pg.Client.connect has two overloads; only a callback's error is noted
  override connect(callback?: any): any {
    if (!callback) return super.connect()
    return super.connect((error: Error) => {
      if (error) noteDatabaseError(error)
      callback(error)
    })
  }

  // biome-ignore lint/suspicious/noExplicitAny: pg.Client.query has a dozen overloads; only the promise of (text, values) changes
  override query(config: any, values?: any, callback?: any): any {
    const measured = measureQuery()
    const isPlain = typeof config === 'string' && Array.isArray(values) && values.length > 0
    const result = isPlain
      ? super.query({ name: nameOf(config), text: config, values }, callback)
      : super.query(config, values, callback)
    if (result instanceof Promise) {
      result.then(measured, (error) => {
        measured?.()
        this.#endIfUseless(error)
      })
    }
    return result
  }

  /** A server that is silent may be gone; a read-only connection stays so on a new primary. */
  #endIfUseless(error: Error): void {
    const isUseless = error.message === 'Query read timeout' || isReadOnly(error)
    if (isUseless) this.end().catch(() => {})
  }
}

/** For a pooler, which may run the next statement in a process without the prepared name. */
export class UnnamedStatementsClient extends DatabaseClient {
  // biome-ignore lint/suspicious/noExplicitAny: as above; libraries name statements in an object
  override query(config: any, values?: any, callback?: any): any {
    if (typeof config === 'string' && Array.isArray(values)) {
      return super.query({ text: config, values }, callback)
    }
    return super.query(config.name ? { ...config, name: undefined } : config, values, callback)
  }
}

/** Kysely's dialect, except that a transaction rejects with the error that ended it. */
export function databaseDialect(config: PostgresDialectConfig): PostgresDialect {
  return Object.assign(new PostgresDialect(config), { createDriver: () => new Driver(config) })
}

type Connection = Parameters<PostgresDriver['rollbackTransaction']>[0]

class Driver extends PostgresDriver {
  /** ROLLBACK fails on a lost connection, which has ended the transaction too. */
  override async rollbackTransaction(connection: Connection): Promise<void> {
    await super.rollbackTransaction(connection).catch(() => {})
  }
}

/** Milliseconds of all queries of some work. Queries that ran side by side count each. */
export type QueryTime = { ms: number }

const current = new AsyncLocalStorage<QueryTime>()

/** Adds the queries that `work` starts to `time`. A shared query counts for the first caller. */
export function addQueryTime<T>(time: QueryTime, work: () => T): T {
  return current.run(time, work)
}

/** Starts to measure a query. Returns the function to call at its end. */
export function measureQuery(): (() => void) | undefined {
  const time = current.getStore()
  if (!time) return undefined
  const since = performance.now()
  return () => {
    time.ms += performance.now() - since
  }
}
