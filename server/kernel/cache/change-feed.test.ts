import { sql } from 'kysely'
import { expect, onTestFinished, test } from 'vitest'
import { databaseForTest } from '../../testing/database-for-test.ts'
import { openPostgresProxy } from '../../testing/postgres-proxy.ts'
import { openDatabase } from '../db/database.ts'
import { openChangeFeed } from './change-feed.ts'
import { FEED_NAME } from './operator-changes.ts'

test('a connection that freezes before it has subscribed is given up, and another one takes its place', async () => {
  const databaseUrl = await databaseForTest()
  const { db, close } = openDatabase(databaseUrl, () => {})
  onTestFinished(close)
  const line = await openPostgresProxy(databaseUrl, FEED_NAME)
  onTestFinished(line.close)
  const listeners = async () => {
    const { rows } = await sql`SELECT FROM pg_stat_activity WHERE datname = current_database()
      AND application_name = ${FEED_NAME}`.execute(db)
    return rows.length
  }

  const frozen = line.freezeAt(1)
  const { promise: subscribed, resolve } = Promise.withResolvers<void>()
  const feed = openChangeFeed(db, {
    url: line.url,
    isShared: true,
    outage: { suspect() {}, whenReadable: async () => {} },
    onChange() {},
    onSubscribed: (isSubscribed) => isSubscribed && resolve(),
  })
  onTestFinished(feed.close)
  await frozen
  expect(await listeners()).toBe(1)
  await expect.poll(listeners, { timeout: 5000 }).toBe(0)
  line.thaw()
  await subscribed
  expect(await listeners()).toBe(1)
})
