import { randomUUID } from 'node:crypto'
import pg from 'pg'

/** The migrated database that test databases are copied from. */
export const TEMPLATE = 'vslukh_template'

/** The same server's address with another database. */
export function withDatabase(url: string, database: string): string {
  const other = new URL(url)
  other.pathname = `/${database}`
  return other.href
}

export async function createDatabase(serverUrl: string, name: string, template = 'template0') {
  await executeOn(serverUrl, `CREATE DATABASE ${name} TEMPLATE ${template}`)
}

/** A fresh migrated database, as a `using` resource that drops it again. */
export async function freshDatabase(serverUrl: string) {
  const name = `test_${randomUUID().replaceAll('-', '')}`
  await createDatabase(serverUrl, name, TEMPLATE)
  return {
    url: withDatabase(serverUrl, name),
    drop: () => executeOn(serverUrl, `DROP DATABASE ${name} WITH (FORCE)`),
  }
}

/** Runs one statement on a connection of its own. */
export async function executeOn(url: string, statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    await client.query(statement)
  } finally {
    await client.end()
  }
}
