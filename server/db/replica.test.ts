import { sql } from 'kysely'
import { expect, inject, onTestFinished, test } from 'vitest'
import { freshDatabase } from '../testing/databases.ts'
import { openPostgresProxy } from '../testing/postgres-proxy.ts'
import { appForTest, type TestApp } from '../testing/test-app.ts'
import { covers, later, parsePosition } from './wal-position.ts'

/** Starts an app whose reads go to its own database over a line of their own, as to a standby without any lag. */
async function appWithReplica() {
  const database = await freshDatabase(inject('databaseUrl'))
  onTestFinished(database.drop)
  const line = await openPostgresProxy(database.url)
  onTestFinished(line.close)
  const app = await appForTest({
    databaseUrl: database.url,
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
