import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { findCounterDifferences } from '../posts/counters.task.ts'
import { signUps } from '../testing/at-once.ts'
import { recount } from '../testing/seed.ts'
import { appForTest } from '../testing/test-app.ts'
import { deleteAccount, moveAccounts, returnToAccount } from './account-deletion.service.ts'

/** More than two steps move; set POSTS for a measurement with more. */
const POSTS = Number(process.env.POSTS ?? 1200)
/** One more than come back in a step with others. */
const FANS = 5001
const never = new Promise<never>(() => {})
const invalidate = async () => {}

test('a large account with a loved post goes and comes back whole, while others publish, like and read', async () => {
  const app = await appForTest({ poolLimits: { connections: 20, statementTimeoutMs: 60_000 } })
  const [olga, petr] = await signUps(app, 2)
  if (!olga || !petr) throw new Error('nobody signed up')
  const { db } = app
  const talk = await app.publish(petr, 'Общая запись')
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
    SELECT id, ${olga.id}::bigint FROM posts ON CONFLICT DO NOTHING`.execute(db)
  await recount(db)
  const counts = async () =>
    (
      await sql<{ all: string }>`SELECT concat_ws(' ',
        (SELECT count(*) FROM posts), (SELECT sum(likes_count) FROM posts), (SELECT count(*) FROM likes),
        (SELECT max(likes_count) FROM posts), (SELECT count(*) FROM archived_posts),
        (SELECT count(*) FROM archived_likes), (SELECT count(*) FROM removed_posts)) AS all`.execute(
        db,
      )
    ).rows[0]?.all
  const before = await counts()

  const move = () => moveAccounts(db, { nameKey: Buffer.alloc(32), stopping: never, invalidate })
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
  const ROUNDS_AT_LEAST = 3

  await db.transaction().execute((tx) => deleteAccount(tx, olga.id))
  const began = performance.now()
  const leaving = move()
  expect((await Promise.all([others(leaving), leaving]))[0]).toBeGreaterThanOrEqual(ROUNDS_AT_LEAST)
  const left = performance.now()
  expect(await findCounterDifferences(db)).toEqual([])
  expect((await counts())?.startsWith('1 0 0 0 ')).toBe(true)

  await db.transaction().execute((tx) => returnToAccount(tx, olga.id, { restore: true }))
  const returning = move()
  const served = await Promise.all([others(returning), returning])
  expect(served[0]).toBeGreaterThanOrEqual(ROUNDS_AT_LEAST)
  // The loved post comes back by a job of its own.
  await expect.poll(counts, { timeout: 60_000 }).toBe(before)
  if (process.env.POSTS) {
    const seconds = (from: number, to: number) => `${((to - from) / 1000).toFixed(1)} s`
    console.info(
      `${POSTS} posts: away in ${seconds(began, left)}, back in ${seconds(left, performance.now())}`,
    )
    console.info(`The slowest four calls of somebody else: ${slowest.toFixed(0)} ms`)
  }
  expect(await findCounterDifferences(db)).toEqual([])
}, 1_200_000)
