import fc from 'fast-check'
import { type RawBuilder, sql } from 'kysely'
import { expect, test } from 'vitest'
import type { Queryable } from '../../kernel/db/database.ts'
import { addJob } from '../../kernel/queue/queue.ts'
import { atOnce, signUps } from '../../testing/at-once.ts'
import { waitsFor } from '../../testing/databases.ts'
import { appForTest } from '../../testing/test-app.ts'
import { findCounterDifferences } from './counters.task.ts'
import { expectLists, randomSteps, WallModel } from './wall-model.fixture.ts'

/** The same in each run, so that a failure can be reproduced. */
const SEED = 20_26
const ACTS = Number(process.env.COUNTED_ACTS ?? 100)

test(`after ${ACTS} random operations every list and total equals a simple model, and no counter differs from its rows`, async () => {
  const app = await appForTest()
  const users = await signUps(app, 4)
  const [steps = []] = fc.sample(randomSteps(ACTS), { numRuns: 1, seed: SEED })
  const model = new WallModel(app, users)
  for (const step of steps) await model.take(step)
  expect(model.refusals).toEqual([])
  await expectLists(app, model)
  expect(await findCounterDifferences(app.db)).toEqual([])
}, 60_000)

test(`after ${ACTS} concurrent random operations no counter differs from its rows, and no response is a 5xx`, async () => {
  const app = await appForTest()
  const users = await signUps(app, 4)
  const [steps = []] = fc.sample(randomSteps(ACTS), { numRuns: 1, seed: SEED + 1 })
  const model = new WallModel(app, users)
  for (const step of steps.slice(0, ACTS / 5)) await model.take(step)
  await atOnce(steps.slice(ACTS / 5).map((step) => () => model.take(step)))
  expect(model.refusals.filter(({ status }) => status !== 404)).toEqual([])
  expect(await findCounterDifferences(app.db)).toEqual([])
}, 60_000)

test('a user who publishes and deletes posts concurrently gets neither a deadlock nor a wrong total', async () => {
  const app = await appForTest()
  const olga = await app.signUp()
  const posts = await atOnce(Array.from({ length: 100 }, () => () => app.publish(olga)))
  const { token } = olga
  const race = posts.flatMap(({ id }) => [
    () => app.call('DELETE', `/posts/${id}`, { token }),
    () => app.call('POST', '/posts', { token, body: { text: 'Ещё' } }),
  ])
  const answers = await atOnce(race)
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([204, 201]))
  expect(await findCounterDifferences(app.db)).toEqual([])
})

function holdLowest(tx: Queryable, rows: RawBuilder<unknown>) {
  return sql`SELECT FROM ${rows} LIMIT 1 FOR NO KEY UPDATE`.execute(tx)
}

/** Returns how many rows nobody else holds, once a statement waits for this transaction. */
async function countFree(tx: Queryable, rows: RawBuilder<unknown>): Promise<number> {
  await expect.poll(() => waitsFor(tx)).toBe(1)
  const free = await sql`SELECT FROM ${rows} FOR NO KEY UPDATE SKIP LOCKED`.execute(tx)
  return free.rows.length
}

test.each([
  [
    'that hides posts',
    sql`UPDATE posts SET hidden_for = 'removed', hidden_until = 'infinity' WHERE replied_post_id IS NOT NULL`,
    sql`owner_totals ORDER BY user_id`,
  ],
  ['that deletes likes', sql`DELETE FROM likes`, sql`like_totals ORDER BY user_id`],
])(
  'a statement %s locks what it counts in ascending order, so that no two of them wait for each other',
  async (_what, statement, totals) => {
    // The statement waits as long as the test needs.
    const app = await appForTest({ poolLimits: { statementTimeoutMs: 60_000 } })
    for (const user of await signUps(app, 8)) {
      const { id } = await app.publish(user)
      await app.reply(user, id)
      await app.call('POST', `/posts/${id}/likes`, { token: user.token })
    }
    const posts = sql`posts WHERE replied_post_id IS NULL ORDER BY id`
    const done = await app.db.transaction().execute(async (second) => {
      await holdLowest(second, totals)
      const running = await app.db.transaction().execute(async (first) => {
        await holdLowest(first, posts)
        const running = statement.execute(app.db)
        expect(await countFree(first, posts)).toBe(8)
        return { running }
      })
      expect(await countFree(second, totals)).toBe(8)
      return running
    })
    await done.running
  },
)

/** [counter, the statement that makes it wrong, whose counter it is] */
const BREAKS: [string, ReturnType<typeof sql>, 'all' | 'user' | 'post'][] = [
  ['wall', sql`UPDATE wall_totals SET posts = posts + 1 WHERE slot = 3`, 'all'],
  ['owner posts', sql`UPDATE owner_totals SET posts = posts + 1`, 'user'],
  ['owner replies', sql`UPDATE owner_totals SET replies = replies + 1`, 'user'],
  ['user likes', sql`UPDATE like_totals SET likes = likes + 1`, 'user'],
  ['post likes', sql`UPDATE posts SET likes_count = likes_count + 1 WHERE id = 1`, 'post'],
  ['post replies', sql`UPDATE posts SET replies_count = replies_count + 1 WHERE id = 1`, 'post'],
]

test.each(BREAKS)('the nightly check logs a wrong counter: %s', async (counter, breakIt, whose) => {
  const app = await appForTest()
  const olga = await app.signUp()
  const post = await app.publish(olga)
  await app.reply(olga, post.id)
  await app.call('POST', `/posts/${post.id}/likes`, { token: olga.token })

  await addJob(app.db, 'check-counters', { payload: {} })
  expect(JSON.parse(await app.logLine('counters checked')).differences).toBe(0)
  expect(app.logged.join('')).not.toContain('counter differs')

  await breakIt.execute(app.db)
  const id = { all: 'all', user: olga.id, post: post.id }[whose]
  const difference = { counter, id, kept: 2, rows: 1 }
  expect(await findCounterDifferences(app.db)).toEqual([difference])
  await addJob(app.db, 'check-counters', { payload: {} })
  expect(JSON.parse(await app.logLine('counters checked', 2)).differences).toBe(1)
  const line = JSON.parse(await app.logLine('counter differs from its rows'))
  expect(line).toMatchObject({ level: 'error', ...difference })
})

test('the nightly check finds a total whose row is missing', async () => {
  const app = await appForTest()
  const olga = await app.signUp()
  await app.publish(olga)
  await sql`DELETE FROM owner_totals`.execute(app.db)
  expect(await findCounterDifferences(app.db)).toEqual([
    { counter: 'owner posts', id: olga.id, kept: 0, rows: 1 },
  ])
})

test('deletions and changes by SQL keep every count exact, and remove the likes of a deleted post', async () => {
  const app = await appForTest()
  const [olga, petr] = [await app.signUp(), await app.signUp()]
  const [first, second] = [await app.publish(olga), await app.publish(olga)]
  const reply = await app.reply(petr, first.id)
  for (const { id } of [first, second, reply]) {
    for (const { token } of [olga, petr]) await app.call('POST', `/posts/${id}/likes`, { token })
  }
  await sql`UPDATE posts SET hidden_for = 'removed', hidden_until = 'infinity' WHERE id IN (${first.id}, ${reply.id})`.execute(
    app.db,
  )
  expect(await findCounterDifferences(app.db)).toEqual([])
  await sql`DELETE FROM posts WHERE owner_id = ${olga.id}`.execute(app.db)
  expect(await findCounterDifferences(app.db)).toEqual([])
  const likes = await app.db.selectFrom('likes').select('post_id').distinct().execute()
  expect(likes).toEqual([{ post_id: reply.id }])
  await sql`DELETE FROM users WHERE id = ${petr.id}`.execute(app.db)
  expect(await findCounterDifferences(app.db)).toEqual([])
})
