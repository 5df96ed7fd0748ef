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

/** Opens a replica whose standby is the database itself, over a line of its own. It is closed after the test. */
async function replicaForTest() {
  const databaseUrl = await databaseForTest()
  const primary = openDatabase(databaseUrl, () => {})
  onTestFinished(primary.close)
  const line = await openPostgresProxy(databaseUrl)
  onTestFinished(line.close)
  const replica = openReplica(line.url, primary.db)
  onTestFinished(replica.close)
  const isFromPrimary = (viewer: object | null = null) =>
    replica.runRead(viewer, async (db) => db === primary.db)
  const untilFromStandby = () => vi.waitUntil(async () => !(await isFromPrimary()), 5000)
  await untilFromStandby()
  return { ...replica, line, primary: primary.db, isFromPrimary, untilFromStandby }
}

test('visitors read from a standby, users from the primary; so do visitors for two seconds after posts have changed', async () => {
  const { noteChange, isFromPrimary, untilFromStandby } = await replicaForTest()
  expect([await isFromPrimary(), await isFromPrimary({})]).toEqual([false, true])
  const changed = performance.now()
  noteChange()
  expect(await isFromPrimary()).toBe(true)
  await untilFromStandby()
  expect(performance.now() - changed).toBeGreaterThanOrEqual(2000)
})

test('a standby that hangs or is gone costs no read, and is read again once it answers', async () => {
  const { line, isFromPrimary, untilFromStandby } = await replicaForTest()
  line.freeze()
  expect(await isFromPrimary()).toBe(true)
  line.thaw()
  await untilFromStandby()
  line.close()
  expect(await isFromPrimary()).toBe(true)
})

test('a statement that a standby refuses or cancels goes to the primary', async () => {
  const { runRead, untilFromStandby, primary } = await replicaForTest()
  // The statement timeout, a conflict with what the standby replays, too many connections.
  for (const state of ['57014', '40001', '53300']) {
    await untilFromStandby()
    const isFromPrimary = await runRead(null, async (db) => {
      if (db === primary) return true
      await sql.raw(`DO $$ BEGIN RAISE 'no' USING ERRCODE = '${state}'; END $$`).execute(db)
      return false
    })
    expect([state, isFromPrimary]).toEqual([state, true])
  }
})

test('a standby that has replayed nothing since it started, as a primary of before, is not read', async () => {
  const dataDir = await folderForTest()
  const start = () => startEmbeddedPostgres({ dataDir, say() {}, onLost() {} })
  await (await start()).stop()
  await writeFile(join(dataDir, 'postgres', 'standby.signal'), '')
  const standby = await start()
  onTestFinished(standby.stop)
  const primary = openDatabase(await databaseForTest(), () => {})
  onTestFinished(primary.close)
  const replica = openReplica(standby.connectionString, primary.db)
  onTestFinished(replica.close)
  const wasRead = new Set<boolean>()
  await vi.waitUntil(async () => {
    wasRead.add(await replica.runRead(null, async (db) => db !== primary.db))
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
