import pg from 'pg'
import { inject, onTestFinished } from 'vitest'
import { openDatabase } from '../../kernel/db/database.ts'
import { closeAfterTest } from '../close-after-test.ts'
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

export async function openDatabaseForTest() {
  const url = await databaseForTest()
  // PostgreSQL may take long to accept a connection on a busy machine.
  return { ...closeAfterTest(openDatabase(url, () => {}, { connectionWaitMs: 10_000 })), url }
}

export async function clientForTest(url: string, application_name?: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url, application_name })
  client.on('error', () => {})
  await client.connect()
  onTestFinished(() => client.end())
  return client
}
