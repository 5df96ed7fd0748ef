import { sql } from 'kysely'
import { pino } from 'pino'
import { expect, onTestFinished, test } from 'vitest'
import { databaseForTest } from '../testing/database-for-test.ts'
import { openPostgresProxy } from '../testing/postgres-proxy.ts'
import { appForTest, type TestApp } from '../testing/test-app.ts'
import { CONNECTIONS, openDatabase } from './database.ts'
import { openReplica } from './replica.ts'
import { covers, later, parsePosition } from './wal-position.ts'

/** Starts an app whose reads go to its own database over a line of their own, as to a standby without any lag. */
async function appWithReplica() {
  const databaseUrl = await databaseForTest()
  const line = await openPostgresProxy(databaseUrl)
  onTestFinished(line.close)
  const app = await appForTest({
    databaseUrl,
    config: { databaseReplicaUrl: line.url },
  })
  await app.logLine('posts are read from standbys')
  return { app, line }
}

/** Whether the last statement of a connection to a standby was a read of posts. */
async function hasReadFromStandby({ db }: TestApp): Promise<boolean> {
  const { rows } = await sql`SELECT FROM pg_stat_activity WHERE datname = current_database()
    AND application_name = 'vslukh standby' AND query LIKE '%hydrated%'`.execute(db)
  return rows.length > 0
}

test('posts are read from a standby; one that is gone, or hangs, costs no read', async () => {
  const { app, line } = await appWithReplica()
  const olga = await app.signUp()
  const post = await app.publish(olga)
  const newest = async (token?: string) =>
    (await app.call('GET', '/posts', { token })).body.posts[0].id
  expect(await newest(olga.token)).toBe(post.id)
  await expect.poll(async () => (await newest()) === post.id && hasReadFromStandby(app)).toBe(true)

  line.freeze()
  const silent = await app.publish(olga, 'Связь с репликой молчит')
  expect(await newest(olga.token)).toBe(silent.id)
  await app.logLine('posts are read from the primary')
  line.thaw()
  await app.logLine('posts are read from standbys', 2)

  line.close()
  const last = await app.publish(olga, 'Реплики нет')
  expect(await newest(olga.token)).toBe(last.id)
  await app.logLine('posts are read from the primary', 2)
  expect(await newest()).toBe(last.id)
})

/** Opens a replica whose standby is the database itself; resolves once it is read. It is closed after the test. */
async function replicaForTest() {
  const databaseUrl = await databaseForTest()
  const primary = openDatabase(databaseUrl, () => {})
  onTestFinished(primary.close)
  const log = pino({ level: 'silent' })
  const urls = { url: databaseUrl, primaryUrl: databaseUrl }
  const replica = openReplica({ ...urls, primary: primary.db, log })
  onTestFinished(replica.close)
  replica.setSubscribed(true)
  const readsStandby = () => replica.runRead(async (db) => db !== primary.db)
  await expect.poll(readsStandby).toBe(true)
  return { ...replica, primary: primary.db, readsStandby }
}

test('while every connection to standbys is in use, a read goes to the primary, and the next one with a free connection to a standby', async () => {
  const { runRead, readsStandby } = await replicaForTest()
  const { promise: free, resolve } = Promise.withResolvers<void>()
  const held = Array.from({ length: CONNECTIONS }, () => runRead(() => free))
  expect(await readsStandby()).toBe(false)
  resolve()
  await Promise.all(held)
  expect(await readsStandby()).toBe(true)
})

test('a statement that a standby refuses or cancels goes to the primary, and no other read does', async () => {
  const { runRead, readsStandby, primary } = await replicaForTest()
  // The statement timeout, a conflict with what the standby replays, too many connections.
  for (const state of ['57014', '40001', '53300']) {
    const isFromPrimary = await runRead(async (db) => {
      if (db === primary) return true
      await sql.raw(`DO $$ BEGIN RAISE 'no' USING ERRCODE = '${state}'; END $$`).execute(db)
      return false
    })
    expect([state, isFromPrimary, await readsStandby()]).toEqual([state, true, true])
  }
})

test('a position covers what is before it on its own timeline alone', () => {
  const [early, late] = [parsePosition('2:100'), parsePosition('2:200')]
  if (!early || !late) throw new Error('these are positions')
  expect(covers(late, early)).toBe(true)
  expect(covers(early, early)).toBe(true)
  expect(covers(early, late)).toBe(false)
  // A primary that was lost may have written more than the one that follows it.
  expect(covers(parsePosition('1:900'), early)).toBe(false)
  expect(covers(parsePosition('3:900'), early)).toBe(false)
  expect(covers(undefined, early)).toBe(false)
})

test('of two positions the later one is that of the newer timeline, and on one timeline the greater', () => {
  const [early, late] = [parsePosition('2:100'), parsePosition('2:200')]
  const next = parsePosition('3:50')
  if (!early || !late || !next) throw new Error('these are positions')
  expect(later(undefined, early)).toEqual(early)
  expect(later(early, late)).toEqual(late)
  expect(later(late, early)).toEqual(late)
  expect(later(late, next)).toEqual(next)
  expect(later(next, late)).toEqual(next)
  expect(parsePosition('0/16B3748')).toBeUndefined()
})
