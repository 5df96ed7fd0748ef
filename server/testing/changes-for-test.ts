import pg from 'pg'
import { onTestFinished } from 'vitest'
import { CHANNEL } from '../kernel/cache/change-feed.ts'

/** Receives the changes that nodes and commands publish, until the test has finished. */
export async function changesForTest(databaseUrl: string) {
  const client = new pg.Client({ connectionString: databaseUrl })
  await client.connect()
  onTestFinished(() => client.end())
  const received: string[] = []
  client.on('notification', ({ payload = '' }) => received.push(payload))
  await client.query(`LISTEN ${CHANNEL}`)
  return {
    received,
    /** PostgreSQL delivers all published changes ahead of an answer. */
    arrived: async () => void (await client.query('SELECT')),
  }
}
