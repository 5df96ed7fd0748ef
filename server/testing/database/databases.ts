import { randomUUID } from 'node:crypto'
import { sql } from 'kysely'
import pg from 'pg'
import type { Queryable } from '../../kernel/db/database.ts'
import { FEED_NAME } from '../../kernel/db/nodes.ts'

/** The migrated database that each test database is a copy of. */
export const TEMPLATE = 'vslukh_template'

export function withDatabase(url: string, database: string): string {
  const other = new URL(url)
  other.pathname = `/${database}`
  return other.href
}

export async function createDatabase(serverUrl: string, name: string, template = 'template0') {
  // Where nothing is synced to a disk, files cost half of what their blocks cost in the WAL.
  await executeOn(serverUrl, `CREATE DATABASE ${name} TEMPLATE ${template} STRATEGY file_copy`)
}

export function asSuperuser(url: string): string {
  const other = new URL(withDatabase(url, 'postgres'))
  other.username = 'postgres'
  return other.href
}

/** The caller drops it. */
export async function freshDatabase(serverUrl: string, template = TEMPLATE) {
  const name = `test_${randomUUID().replaceAll('-', '')}`
  await createDatabase(serverUrl, name, template)
  return {
    url: withDatabase(serverUrl, name),
    // A connection of another role, that still opens, can be ended by the superuser only.
    drop: async () =>
      void (await executeOn(asSuperuser(serverUrl), `DROP DATABASE ${name} WITH (FORCE)`)),
  }
}

export async function withClient<T>(
  url: string,
  work: (client: pg.Client) => Promise<T>,
): Promise<T> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  return work(client).finally(() => client.end())
}

/** Executes a statement on a connection of its own. Returns its rows. */
export function executeOn<Row extends object = Record<string, unknown>>(
  url: string,
  statement: string,
  values?: unknown[],
): Promise<Row[]> {
  return withClient(url, async (client) => (await client.query<Row>(statement, values)).rows)
}

/** Breaks all connections and refuses new ones until `openDatabaseAgain`. */
export async function shutDatabase(url: string): Promise<void> {
  await alterDatabase(url, 'CONNECTION LIMIT 0')
  await endConnections(url)
}

export async function openDatabaseAgain(url: string): Promise<void> {
  await alterDatabase(url, 'CONNECTION LIMIT -1')
}

/** Makes new connections read-only, or not. The former ends open ones, as a failover does. */
export async function setReadOnly(url: string, isReadOnly: boolean): Promise<void> {
  await alterDatabase(url, `SET default_transaction_read_only = ${isReadOnly ? 'on' : 'off'}`)
  if (isReadOnly) await endConnections(url)
}

function alterDatabase(url: string, change: string): Promise<unknown> {
  const name = new URL(url).pathname.slice(1)
  return executeOn(withDatabase(url, 'postgres'), `ALTER DATABASE ${name} ${change}`)
}

const GONE_WITHIN_MS = 30_000

function endConnections(url: string): Promise<unknown> {
  return executeOn(
    withDatabase(url, 'postgres'),
    `SELECT pg_terminate_backend(pid, ${GONE_WITHIN_MS}) FROM pg_stat_activity
      WHERE datname = '${new URL(url).pathname.slice(1)}' AND usename = current_user`,
  )
}

/** Not in a transaction, in which pg_stat_activity stays as it was first read. */
export async function lockWaits({ db }: { db: Queryable }): Promise<number> {
  const { rows } = await sql<{ count: number }>`SELECT count(*)::int AS count FROM pg_stat_activity
    WHERE datname = current_database() AND wait_event_type = 'Lock'`.execute(db)
  return rows[0]?.count ?? 0
}

/** Returns how many nodes receive the changes of others: the first statement of each feed is LISTEN. */
export async function countListeningNodes({ db }: { db: Queryable }): Promise<number> {
  const { rows } = await sql`SELECT FROM pg_stat_activity WHERE datname = current_database()
    AND starts_with(application_name, ${FEED_NAME}) AND state = 'idle' AND query <> ''`.execute(db)
  return rows.length
}
