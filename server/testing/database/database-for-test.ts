import pg from 'pg'
import { inject, onTestFinished } from 'vitest'
import { openDatabase } from '../../kernel/db/database.ts'
import { freshDatabase } from './databases.ts'

/**
 * Creates a database, migrated unless a template is given, that is dropped when the test has
 * finished. Returns its URL.
 */
export async function databaseForTest(template?: string): Promise<string> {
  const database = await freshDatabase(inject('databaseUrl'), template)
  onTestFinished(() => database.drop())
  return database.url
}

/** Opens such a database, until the test has finished. */
export async function openDatabaseForTest() {
  const url = await databaseForTest()
  // PostgreSQL may take long to accept a connection on a busy machine.
  const opened = openDatabase(url, () => {}, { connectionWaitMs: 10_000 })
  onTestFinished(opened.close)
  return { ...opened, url }
}

/** Opens one connection, until the test has finished. */
export async function clientForTest(url: string, application_name?: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url, application_name })
  client.on('error', () => {})
  await client.connect()
  onTestFinished(() => client.end())
  return client
}
