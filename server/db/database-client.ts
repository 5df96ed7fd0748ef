import { PostgresDialect, type PostgresDialectConfig, PostgresDriver } from 'kysely'
import pg from 'pg'
import { noteDatabaseError } from './database-errors.ts'

/** Each prepared text is a plan of some 100 KB on each connection; the product has about a hundred texts. */
const TEXTS_MAX = 200
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

const READ_ONLY_STATE = '25006'

/** A connection that prepares its statements, and ends itself after an error that makes it useless to anybody. */
export class DatabaseClient extends pg.Client {
  constructor(config?: pg.ClientConfig) {
    super(config)
    this.on('error', noteDatabaseError)
  }

  // biome-ignore lint/suspicious/noExplicitAny: pg.Client.connect has two overloads; only a callback's error is looked at
  override connect(callback?: any): any {
    if (!callback) return super.connect()
    return super.connect((error: Error) => {
      if (error) noteDatabaseError(error)
      callback(error)
    })
  }

  // biome-ignore lint/suspicious/noExplicitAny: pg.Client.query has a dozen overloads; only the promise of (text, values) changes
  override query(config: any, values?: any, callback?: any): any {
    const isPlain = typeof config === 'string' && Array.isArray(values) && values.length > 0
    const result = isPlain
      ? super.query({ name: nameOf(config), text: config, values }, callback)
      : super.query(config, values, callback)
    if (result instanceof Promise) result.catch((error) => this.#endIfUseless(error))
    return result
  }

  /**
   * A server that did not answer may be frozen or gone. One that refuses to write was a primary once, or was told so: its
   * connections stay as they began, whatever the server has become since.
   */
  #endIfUseless(error: Error & { code?: unknown }): void {
    const isUseless = error.message === 'Query read timeout' || error.code === READ_ONLY_STATE
    if (isUseless) this.end().catch(() => {})
  }
}

/** Transactions end with the error that ended them. */
export class DatabaseDialect extends PostgresDialect {
  readonly #config: PostgresDialectConfig

  constructor(config: PostgresDialectConfig) {
    super(config)
    this.#config = config
  }

  override createDriver(): PostgresDriver {
    return new Driver(this.#config)
  }
}

type Connection = Parameters<PostgresDriver['rollbackTransaction']>[0]

class Driver extends PostgresDriver {
  /** A ROLLBACK fails where the connection is lost, which ended the transaction too. PostgresDriver discards the connection. */
  override async rollbackTransaction(connection: Connection): Promise<void> {
    await super.rollbackTransaction(connection).catch(() => {})
  }
}
