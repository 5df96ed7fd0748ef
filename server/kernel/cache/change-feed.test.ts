import { sql } from 'kysely'
import { expect, onTestFinished, test } from 'vitest'
import { closeAfterTest } from '../../testing/close-after-test.ts'
import { openDatabaseForTest } from '../../testing/database/database-for-test.ts'
import { countListeningNodes } from '../../testing/database/databases.ts'
import { openPostgresProxy } from '../../testing/database/postgres-proxy.ts'
import { PAST_CACHE } from '../../testing/http/client.ts'
import { appForTest, testPerNode } from '../../testing/test-app.ts'
import type { Db } from '../db/database.ts'
import { productVersion } from '../db/migrate.ts'
import { FEED_NAME } from '../db/nodes.ts'
import { CHANNEL, type Change, ChangeFeed } from './change-feed.ts'

/** Opens the feed of a node. `subscribed` resolves once it receives the changes of others. */
function openFeed(db: Db, url: string) {
  const received: Change[] = []
  const { promise: subscribed, resolve } = Promise.withResolvers<void>()
  const feed = new ChangeFeed(db, {
    url,
    isShared: true,
    outage: { suspect() {}, whenReadable: async () => {} },
    onChange: (change) => void received.push(change),
    onSubscribed: (isSubscribed) => isSubscribed && resolve(),
  })
  onTestFinished(() => feed.close())
  return { feed, received, subscribed }
}

/** Returns the processes of PostgreSQL that serve the nodes' feeds. */
async function feedsOf(db: Db): Promise<number[]> {
  const { rows } = await sql<{ pid: number }>`SELECT pid FROM pg_stat_activity
    WHERE datname = current_database() AND starts_with(application_name, ${FEED_NAME})`.execute(db)
  return rows.map(({ pid }) => pid)
}

test('a connection that freezes before it has subscribed is given up, and another one takes its place', async () => {
  const { db, url } = await openDatabaseForTest()
  const line = closeAfterTest(await openPostgresProxy(url, FEED_NAME + productVersion()))
  const listeners = async () => (await feedsOf(db)).length
  const frozen = line.freezeAt(1)
  const { subscribed } = openFeed(db, line.url)
  // Its first statement has come to the proxy.
  await frozen
  await expect.poll(listeners).toBe(0)
  line.thaw()
  await subscribed
  expect(await listeners()).toBe(1)
})

test('a change arrives at other nodes unaltered; an unreadable notification means an edit of any post', async () => {
  const { db, url } = await openDatabaseForTest()
  const [sender, { received, subscribed }] = [openFeed(db, url), openFeed(db, url)]
  await subscribed
  const changes: Change[] = [
    { kind: 'added', newest: { id: '8', by: '1' }, answered: ['2', '7:8:1'] },
    { kind: 'edited', postId: '7' },
    { kind: 'removed' },
  ]
  for (const change of changes) await sender.feed.publish(change)
  await expect.poll(() => received).toEqual(changes)
  expect(sender.received).toEqual([])
  for (const payload of ['', 'other posts', 'other {"kind":"added"}']) {
    received.length = 0
    await sql`SELECT pg_notify(${CHANNEL}, ${payload})`.execute(db)
    await expect.poll(() => received).toEqual([{ kind: 'edited' }])
  }
})

testPerNode('two nodes that it starts by itself').each([
  ['are cut', 'SIGTERM'],
  ['hang', 'SIGSTOP'],
] as const)(
  'when the feeds of two nodes %s, a user sees a change at once on the other node, a visitor within a second, and new feeds take their place',
  async (_what, signal) => {
    const writer = await appForTest()
    const other = await appForTest({ databaseUrl: writer.databaseUrl })
    const olga = await writer.signUp()
    const newest = async (sent = {}) => (await other.call('GET', '/posts', sent)).body.posts[0]?.id
    const asOlga = { token: olga.token, headers: PAST_CACHE }
    for (let round = 0; round < 3; round++) {
      await expect.poll(() => countListeningNodes(writer)).toBe(2)
      // Feeds of the round before may still be ending.
      await expect.poll(async () => (await feedsOf(writer.db)).length).toBe(2)
      const before = await feedsOf(writer.db)
      for (const sent of [{}, asOlga]) await newest(sent)
      for (const pid of before) process.kill(pid, signal)
      const { id } = await writer.publish(olga)
      const since = performance.now()
      expect(await newest(asOlga)).toBe(id)
      for (;;) {
        const asked = performance.now()
        if ((await newest()) === id) break
        expect(asked - since).toBeLessThanOrEqual(1000)
      }
      const isNew = (pid: number) => !before.includes(pid)
      await expect.poll(async () => (await feedsOf(writer.db)).filter(isNew).length).toBe(2)
      if (signal === 'SIGSTOP') for (const pid of before) process.kill(pid, 'SIGCONT')
    }
  },
)
