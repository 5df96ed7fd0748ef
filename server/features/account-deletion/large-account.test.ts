import { expect, test } from 'vitest'
import { areTransitionsDone, leave } from '../../testing/calls/account-deletion-calls.ts'
import { clientForTest } from '../../testing/database/database-for-test.ts'
import { seedFans, seedWall } from '../../testing/database/seed.ts'
import type { TestUser } from '../../testing/http/client.ts'
import { appForTest, type TestApp } from '../../testing/test-app.ts'
import { findCounterDifferences } from '../posts/counters.task.ts'
import { deleteAccount, eraseNow, returnToAccount } from './account-deletion.service.ts'
import { finishTransitions } from './account-transitions.service.ts'

/** More than some steps hide or show. */
const POSTS = 2500
/** One more than are erased in a step. */
const FANS = 5001
const ERASURE = { nameKey: Buffer.alloc(32), actor: 'operator', publishChange: async () => {} }

/** What is visible. */
const visibleOnly = (counts: string | undefined) => counts?.split(' ').slice(0, 4)

/**
 * Awaits a transition of many rows, during which a user goes on reading and liking a post, and after
 * which every counter is exact.
 */
async function expectOthersServed(
  app: TestApp,
  { by: { token }, postId }: { by: TestUser; postId: string },
  transition: Promise<unknown>,
): Promise<void> {
  let isOver = false
  let rounds = 0
  const end = () => {
    isOver = true
  }
  transition.then(end, end)
  while (!isOver) {
    for (const [method, path] of [
      ['GET', '/posts?limit=50'],
      ['POST', `/posts/${postId}/likes`],
      ['DELETE', `/posts/${postId}/likes`],
      ['GET', `/posts/${postId}/replies`],
    ] as const) {
      expect((await app.call(method, path, { token })).status, path).toBe(200)
    }
    rounds += 1
  }
  await transition
  // A user who had to wait for the whole transition would have been served once.
  expect(rounds).toBeGreaterThan(1)
  expect(await findCounterDifferences(app.db)).toEqual([])
}

test('a large account with a popular post goes, comes back whole and is erased, while others like and read', async () => {
  const app = await appForTest()
  const [olga, petr] = [await app.signUp(), await app.signUp()]
  const { db } = app
  const talk = await app.publish(petr, 'Общая запись')
  const counts = async () => {
    const [row] = await app.sql<{ all: string }>`SELECT concat_ws(' ',
      (SELECT count(*) FROM visible_posts), (SELECT sum(likes_count) FROM visible_posts),
      (SELECT count(*) FROM likes JOIN visible_posts p ON p.id = post_id WHERE NOT user_left),
      (SELECT max(likes_count) FROM visible_posts),
      (SELECT count(*) FROM posts), (SELECT count(*) FROM likes)) AS all`
    return row?.all
  }
  const without = await counts()
  await app.sql`INSERT INTO posts (owner_id, text, replied_post_id, parent_post_id)
    SELECT ${olga.id}, 'Запись ' || n, parent, parent
    FROM generate_series(1, ${POSTS}::int) n,
      LATERAL (SELECT CASE WHEN n % 3 = 0 THEN ${talk.id}::bigint END AS parent) p`
  const [popular] = await app.sql<{ id: string }>`SELECT max(id) AS id FROM posts`
  await seedFans(db, popular?.id ?? '', FANS)
  await app.sql`INSERT INTO likes (post_id, user_id)
    SELECT id, ${olga.id}::bigint FROM posts WHERE owner_id = ${olga.id} OR id = ${talk.id}`
  const before = await counts()

  const finish = () => finishTransitions(db, { ...ERASURE, mayErase: async () => true })
  const calls = { by: petr, postId: talk.id }

  await db.transaction().execute((tx) => deleteAccount(tx, olga.id))
  await expectOthersServed(app, calls, finish())
  expect(visibleOnly(await counts())).toEqual(visibleOnly(without))

  await db.transaction().execute((tx) => returnToAccount(tx, olga.id, { restore: true }))
  await expectOthersServed(app, calls, finish())
  expect(await counts()).toBe(before)
  expect(await findCounterDifferences(db)).toEqual([])

  await expectOthersServed(app, calls, eraseNow(db, { ...ERASURE, userId: olga.id }))
  expect(await counts()).toBe(without)
}, 120_000)

test('the posts of a large account are gone before the first of them is hidden, and pages go on past them', async () => {
  const app = await appForTest()
  const [olga, petr] = [await app.signUp(), await app.signUp()]
  const first = await app.publish(petr, 'Первая на стене')
  await seedWall(app.db, olga.id, 1200)
  const last = await app.publish(petr, 'Последняя на стене')
  // No post can leave a total that is locked.
  const holder = await clientForTest(app.databaseUrl)
  await holder.query('BEGIN')
  await holder.query('SELECT FROM wall_totals FOR UPDATE')
  await leave(app, olga)
  const { body } = await app.call('GET', '/posts?limit=50')
  expect(body.posts).toMatchObject([{ id: last.id }])
  expect(body.nextCursor).not.toBeNull()
  await holder.query('ROLLBACK')
  await expect.poll(() => areTransitionsDone(app)).toBe(true)
  expect(await findCounterDifferences(app.db)).toEqual([])
  const settled = { total: 2, nextCursor: null, posts: [{ id: last.id }, { id: first.id }] }
  const read = async () => (await app.call('GET', '/posts?limit=50')).body
  await expect.poll(read).toMatchObject(settled)
}, 60_000)
