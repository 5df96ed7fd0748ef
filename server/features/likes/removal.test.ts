import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { addJob } from '../../kernel/queue/queue.ts'
import type { TestUser } from '../../testing/client.ts'
import { expectRefusal } from '../../testing/expect-refusal.ts'
import { seedFans } from '../../testing/seed.ts'
import { appForTest, type TestApp } from '../../testing/test-app.ts'
import { findCounterDifferences } from '../posts/counters.task.ts'

/** More than one step of 5,000, and less than two. */
const LIKERS = 6000
const LEFT_BY_A_STEP = 1000
/** On a busy machine, inserting that many likes takes seconds. */
const PATIENT = { poolLimits: { statementTimeoutMs: 60_000 } }

async function rowsLeft({ db }: TestApp, postId: string): Promise<number> {
  const { rows } = await sql<{ left: number }>`
    SELECT count(*)::int AS left FROM likes WHERE post_id = ${postId}`.execute(db)
  return rows[0]?.left ?? 0
}

const liked = async (app: TestApp, { token }: TestUser) =>
  (await app.call('GET', '/posts?filter=liked', { token })).body

test('a deleted post leaves every list and total at once and its likes are removed in steps, with exact counts in between', async () => {
  const app = await appForTest(PATIENT)
  const olga = await app.signUp()
  const doomed = await app.publish(olga, 'Все меня любят')
  const other = await app.publish(olga, 'Остаюсь')
  await seedFans(app.db, doomed.id, LIKERS)
  const first = await app.signIn('fan1@example.org')
  const last = await app.signIn(`fan${LIKERS}@example.org`)
  for (const { token } of [first, last])
    await app.call('POST', `/posts/${other.id}/likes`, { token })
  const holder = await app.db.startTransaction().execute()
  await sql`SET LOCAL idle_in_transaction_session_timeout = 0`.execute(holder)
  await sql`SELECT FROM like_totals WHERE user_id = ${last.id} FOR UPDATE`.execute(holder)

  async function expectGone() {
    expectRefusal(await app.call('GET', `/posts/${doomed.id}`), 'POST_NOT_FOUND')
    for (const user of [first, last]) {
      const list = await liked(app, user)
      expect(list).toMatchObject({ total: 1, lastPage: 1, nextCursor: null })
      expect(list.posts).toMatchObject([{ id: other.id }])
    }
    expect(await findCounterDifferences(app.db)).toEqual([])
  }
  const { status } = await app.call('DELETE', `/posts/${doomed.id}`, { token: olga.token })
  expect(status).toBe(204)
  await expectGone()
  await expect.poll(() => rowsLeft(app, doomed.id)).toBe(LEFT_BY_A_STEP)
  await expectGone()
  await holder.rollback().execute()
  await expect.poll(() => rowsLeft(app, doomed.id)).toBe(0)
  await expect
    .poll(() => app.db.selectFrom('posts').select('id').execute())
    .toEqual([{ id: other.id }])
  await expectGone()
}, 60_000)

test('likes that a killed process has left are removed by the next runs, each once, also by several at once', async () => {
  const app = await appForTest(PATIENT)
  const { id } = await app.publish(await app.signUp())
  await seedFans(app.db, id, LIKERS)
  // Deleted by a process that was killed before it removed any of them.
  await sql`UPDATE posts SET hidden_for = 'deleted', hidden_until = now(), likes_moving_since = now()`.execute(
    app.db,
  )
  for (let run = 0; run < 4; run++) await addJob(app.db, 'move-likes', { payload: {} })
  await expect.poll(() => rowsLeft(app, id)).toBe(0)
  await expect.poll(() => app.db.selectFrom('posts').select('id').execute()).toEqual([])
  expect(await findCounterDifferences(app.db)).toEqual([])
})
