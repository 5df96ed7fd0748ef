import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { sql } from 'kysely'
import { expect, onTestFinished, test, vi } from 'vitest'
import { startEmbeddedPostgres } from '../../operations/embedded-postgres/embedded-postgres.ts'
import { databaseForTest } from '../../testing/database-for-test.ts'
import { folderForTest } from '../../testing/folder-for-test.ts'
import { openPostgresProxy } from '../../testing/postgres-proxy.ts'
import { openDatabase } from './database.ts'
import { openReplica } from './replica.ts'

/** Opens a replica whose standby is a database behind a line of its own. It is closed after the test. */
async function replicaForTest() {
  const line = await openPostgresProxy(await databaseForTest())
  onTestFinished(line.close)
  const replica = openReplica(line.url)
  onTestFinished(replica.close)
  const isRead = async () => (await replica.tryRead(async () => true)) !== undefined
  const untilRead = () => vi.waitUntil(isRead, 5000)
  await untilRead()
  return { ...replica, line, isRead, untilRead }
}

test('a standby that is to rest is left alone for a second', async () => {
  const { rest, isRead, untilRead } = await replicaForTest()
  const since = performance.now()
  rest()
  expect(await isRead()).toBe(false)
  await untilRead()
  expect(performance.now() - since).toBeGreaterThanOrEqual(1000)
})

test('a standby that hangs or is gone is not read, and is read again once it answers', async () => {
  const { line, isRead, untilRead } = await replicaForTest()
  line.freeze()
  expect(await isRead()).toBe(false)
  line.thaw()
  await untilRead()
  line.close()
  expect(await isRead()).toBe(false)
})

test('a statement that a standby refuses or cancels is no read', async () => {
  const { tryRead, untilRead } = await replicaForTest()
  // The statement timeout, a conflict with what the standby replays, too many connections.
  for (const state of ['57014', '40001', '53300']) {
    await untilRead()
    const done = await tryRead((standby) =>
      sql.raw(`DO $$ BEGIN RAISE 'no' USING ERRCODE = '${state}'; END $$`).execute(standby),
    )
    expect([state, done]).toEqual([state, undefined])
  }
})

test('what else a read rejects with is passed on, and the standby is read again at once', async () => {
  const { tryRead, rest, isRead } = await replicaForTest()
  const fail = async () => {
    throw new Error('no such post')
  }
  rest()
  await vi.waitUntil(() => tryRead(fail).catch(() => true), 5000)
  expect(await isRead()).toBe(true)
})

test('a standby that has replayed nothing since it started, as a primary of before, is not read', async () => {
  const dataDir = await folderForTest()
  const start = () => startEmbeddedPostgres({ dataDir, say() {}, onLost() {} })
  await (await start()).stop()
  await writeFile(join(dataDir, 'postgres', 'standby.signal'), '')
  const standby = await start()
  onTestFinished(standby.stop)
  const replica = openReplica(standby.connectionString)
  onTestFinished(replica.close)
  const wasRead = new Set<boolean>()
  await vi.waitUntil(async () => {
    wasRead.add((await replica.tryRead(async () => true)) !== undefined)
    return isConnected(standby.connectionString)
  }, 5000)
  expect([...wasRead]).toEqual([false])
})

/** Whether a replica is connected to a standby, which it asks first how old its state is. */
async function isConnected(standbyUrl: string): Promise<boolean> {
  const { db, close } = openDatabase(standbyUrl, () => {})
  const { rows } = await sql`
    SELECT FROM pg_stat_activity WHERE application_name = 'vslukh standby'`.execute(db)
  await close()
  return rows.length > 0
}
