import pg from 'pg'
import { onTestFinished } from 'vitest'
import { CHANNEL } from '../response-cache/operator-changes.ts'

/** Receives what nodes and operator's commands tell of changes, until the test has finished. */
export async function changesForTest(databaseUrl: string) {
  const client = new pg.Client({ connectionString: databaseUrl })
  await client.connect()
  onTestFinished(() => client.end())
  const received: string[] = []
  client.on('notification', ({ payload = '' }) => received.push(payload))
  await client.query(`LISTEN ${CHANNEL}`)
  return {
    received,
    /** Runs a query on the connection that receives them. PostgreSQL delivers what came before ahead of its answer. */
    query: async (statement: string) => (await client.query(statement)).rows,
  }
}
