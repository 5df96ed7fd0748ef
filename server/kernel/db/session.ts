import pg from 'pg'

/**
 * What every session may assume, because roles, databases and servers have settings of their own
 * (ALTER ROLE … SET). PgBouncer sets the same: `connect_query` in deploy/pgbouncer.ini. Where the
 * tables are (search_path), whose they are (role) and whether they may be written
 * (default_transaction_read_only) stay the choice of the database's owner. pg itself requests UTF-8.
 */
export const SESSION = {
  // pg parses only these formats, and backups contain them.
  DateStyle: 'ISO, YMD',
  IntervalStyle: 'postgres',
  TimeZone: 'UTC',
  bytea_output: 'hex',
  extra_float_digits: '1',
  // Statements contain backslashes, arrays of texts contain NULL, and names are compared.
  standard_conforming_strings: 'on',
  array_nulls: 'on',
  quote_all_identifiers: 'off',
  // A write that has waited for a row must see its newest version.
  default_transaction_isolation: 'read committed',
  // Plans were chosen and measured with these.
  jit: 'off',
  plan_cache_mode: 'auto',
  // The caller sets its own time limits.
  statement_timeout: '0',
  lock_timeout: '0',
  idle_in_transaction_session_timeout: '0',
  idle_session_timeout: '0',
  transaction_timeout: '0',
}

type SessionSettings = Partial<typeof SESSION>

export type SessionConfig = pg.ClientConfig & { session?: SessionSettings }

/** Returns the statement that sets SESSION and `own`, except what this PostgreSQL does not know. */
function sessionStatement(own: SessionSettings = {}): string {
  const rows = Object.entries({ ...SESSION, ...own }).map((row) => `('${row.join("', '")}')`)
  return (
    `SELECT set_config(name, value, false) FROM (VALUES ${rows.join(', ')}) ` +
    'AS wanted (name, value) WHERE current_setting(name, true) IS NOT NULL'
  )
}

/** A connection of the product, whose session has the settings of SESSION and those of `session`. */
export class SessionClient extends pg.Client {
  readonly #setting: pg.QueryConfig & { query_timeout?: number }

  constructor(config: SessionConfig = {}) {
    super(config)
    const { connectionTimeoutMillis: wait, session } = config
    this.#setting = {
      text: sessionStatement(session),
      ...(wait !== undefined && { query_timeout: wait }),
    }
    // Without a listener, the error of a broken connection would end the process.
    this.on('error', () => {})
  }

  override connect(): Promise<pg.Client>
  override connect(callback: (error?: Error) => void): void
  override connect(callback?: (error?: Error) => void): Promise<pg.Client> | undefined {
    const connecting = this.#connect()
    if (!callback) return connecting
    connecting.then(() => callback(), callback)
    return undefined
  }

  async #connect(): Promise<pg.Client> {
    await super.connect()
    try {
      await super.query(this.#setting)
    } catch (error) {
      // Not awaited, because it does not resolve if the server does not answer.
      this.end().catch(() => {})
      throw error
    }
    return this
  }
}
