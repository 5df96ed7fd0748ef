import { sql } from 'kysely'
import pg from 'pg'
import { expect, onTestFinished, test } from 'vitest'
import { isSettled, leave } from '../../testing/account-deletion-calls.ts'
import { signUps } from '../../testing/at-once.ts'
import { fillDatabase } from '../../testing/big-data.ts'
import { seedWall } from '../../testing/seed.ts'
import { appForTest } from '../../testing/test-app.ts'
import { findCounterDifferences } from '../posts/counters.task.ts'
import { deleteAccount, eraseNow, returnToAccount } from './account-deletion.service.ts'
import { moveAccounts } from './move-accounts.task.ts'

/** More than some steps move; set POSTS for a measurement with more. */
const POSTS = Number(process.env.POSTS ?? 2500)
/** How many posts others have, for a measurement on a large wall. */
const OTHERS = Number(process.env.OTHERS ?? 0)
/** One more than come back in a step with others. */
const FANS = 5001
const SOON = { timeout: 15_000 }
const publishChange = async () => {}
const ERASURE = { nameKey: Buffer.alloc(32), actor: 'operator', publishChange }

/** What is visible. */
const visibleOnly = (counts: string | undefined) => counts?.split(' ').slice(0, 4)

test('a large account with a popular post goes, comes back whole and is erased, while others like and read', async () => {
  const app = await appForTest({ poolLimits: { connections: 20, statementTimeoutMs: 60_000 } })
  if (OTHERS > 0) {
    const size = { users: OTHERS / 20, posts: OTHERS, likes: OTHERS * 2 }
    await fillDatabase(app.databaseUrl, size)
  }
  const [olga, petr] = await signUps(app, 2)
  if (!olga || !petr) throw new Error('nobody signed up')
  const { db } = app
  const talk = await app.publish(petr, 'Общая запись')
  const counts = async () =>
    (
      await sql<{ all: string }>`SELECT concat_ws(' ',
        (SELECT count(*) FROM visible_posts), (SELECT sum(likes_count) FROM visible_posts),
        (SELECT count(*) FROM likes WHERE NOT post_hidden AND NOT user_left), (SELECT max(likes_count) FROM visible_posts),
        (SELECT count(*) FROM posts), (SELECT count(*) FROM likes),
        (SELECT count(*) FROM posts WHERE likes_moving_since IS NOT NULL)) AS all`.execute(db)
    ).rows[0]?.all
  const without = await counts()
  await sql`INSERT INTO posts (owner_id, text, replied_post_id, parent_post_id)
    SELECT ${olga.id}, 'Запись ' || n, parent, parent
    FROM generate_series(1, ${POSTS}::int) n,
      LATERAL (SELECT CASE WHEN n % 3 = 0 THEN ${talk.id}::bigint END AS parent) p`.execute(db)
  await sql`WITH fans AS (
      INSERT INTO users (username, email, email_key)
      SELECT 'fan_' || n, n || '@x.ru', n || '@x.ru' FROM generate_series(1, ${FANS}::int) n RETURNING id
    )
    INSERT INTO likes (post_id, user_id)
    SELECT (SELECT max(id) FROM posts), id FROM fans`.execute(db)
  await sql`INSERT INTO likes (post_id, user_id)
    SELECT id, ${olga.id}::bigint FROM posts WHERE owner_id = ${olga.id} OR id = ${talk.id}`.execute(
    db,
  )
  const before = await counts()

  const mayErase = async () => true
  const options = { nameKey: Buffer.alloc(32), mayErase, publishChange }
  const move = () => moveAccounts(db, options)
  let slowest = 0
  /** Makes somebody else's calls while rows move, and returns how often all four were served. */
  async function others(until: Promise<unknown>): Promise<number> {
    let isOver = false
    let rounds = 0
    void until.finally(() => {
      isOver = true
    })
    const token = petr?.token
    while (!isOver) {
      const since = performance.now()
      for (const [method, path] of [
        ['GET', '/posts?limit=50'],
        ['POST', `/posts/${talk.id}/likes`],
        ['DELETE', `/posts/${talk.id}/likes`],
        ['GET', `/posts/${talk.id}/replies`],
      ] as const) {
        expect((await app.call(method, path, { token })).status, path).toBe(200)
      }
      slowest = Math.max(slowest, performance.now() - since)
      rounds += 1
    }
    return rounds
  }
  /** Somebody who had to wait for a whole move would have been served once. */
  const ROUNDS_AT_LEAST = 2

  await db.transaction().execute((tx) => deleteAccount(tx, olga.id))
  const began = performance.now()
  const leaving = move()
  expect((await Promise.all([others(leaving), leaving]))[0]).toBeGreaterThanOrEqual(ROUNDS_AT_LEAST)
  const left = performance.now()
  expect(await findCounterDifferences(db)).toEqual([])
  expect(visibleOnly(await counts())).toEqual(visibleOnly(without))

  const coming = performance.now()
  await db.transaction().execute((tx) => returnToAccount(tx, olga.id, { restore: true }))
  const returning = move()
  const served = await Promise.all([others(returning), returning])
  expect(served[0]).toBeGreaterThanOrEqual(ROUNDS_AT_LEAST)
  // The likes of the popular post follow in a job of their own.
  await expect.poll(counts, { timeout: 60_000 }).toBe(before)
  const returned = performance.now()
  expect(await findCounterDifferences(db)).toEqual([])

  const ending = performance.now()
  const erasing = eraseNow(db, { ...ERASURE, userId: olga.id })
  const duringErasure = await Promise.all([others(erasing), erasing])
  expect(duringErasure[0]).toBeGreaterThanOrEqual(ROUNDS_AT_LEAST)
  const erased = performance.now()
  expect(await findCounterDifferences(db)).toEqual([])
  expect(await counts()).toBe(without)
  if (process.env.POSTS) {
    const seconds = (from: number, to: number) => `${((to - from) / 1000).toFixed(1)} s`
    console.info(
      `${POSTS} posts: away in ${seconds(began, left)}, back in ${seconds(coming, returned)}, erased in ${seconds(ending, erased)}`,
    )
    console.info(`The slowest four calls of somebody else: ${slowest.toFixed(0)} ms`)
  }
}, 1_200_000)

test('the posts of a large account are gone before the first of them has moved, and pages go on past them', async () => {
  const app = await appForTest()
  const [olga, petr] = [await app.signUp(), await app.signUp()]
  const first = await app.publish(petr, 'Первая на стене')
  await seedWall(app.db, olga.id, 1200)
  const last = await app.publish(petr, 'Последняя на стене')
  // No post can leave a total that is locked.
  const holder = new pg.Client(app.databaseUrl)
  await holder.connect()
  onTestFinished(() => holder.end())
  await holder.query('BEGIN')
  await holder.query('SELECT FROM wall_totals FOR UPDATE')
  await leave(app, olga)
  const { body } = await app.call('GET', '/posts?limit=50')
  expect(body.posts).toMatchObject([{ id: last.id }])
  expect(body.nextCursor).not.toBeNull()
  await holder.query('ROLLBACK')
  await expect.poll(() => isSettled(app), SOON).toBe(true)
  expect(await findCounterDifferences(app.db)).toEqual([])
  const settled = { total: 2, nextCursor: null, posts: [{ id: last.id }, { id: first.id }] }
  const read = async () => (await app.call('GET', '/posts?limit=50')).body
  await expect.poll(read, SOON).toMatchObject(settled)
}, 60_000)
