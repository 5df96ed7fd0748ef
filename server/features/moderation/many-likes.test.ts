import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { openDatabase } from '../../kernel/db/database.ts'
import { addJob } from '../../kernel/queue/queue.ts'
import { atOnce } from '../../testing/at-once.ts'
import type { TestUser } from '../../testing/client.ts'
import { expectRefusal } from '../../testing/expect-refusal.ts'
import { decide, report, restore, signUpModerator } from '../../testing/moderation-calls.ts'
import { seedFans } from '../../testing/seed.ts'
import { appForTest, type TestApp } from '../../testing/test-app.ts'
import { findCounterDifferences } from '../posts/counters.task.ts'

/** Four steps of 5,000, unless LIKERS says otherwise; docs/performance.md has 300,000. */
const LIKERS = Number(process.env.LIKERS ?? 20_000)
/** Long enough for a busy machine. */
const SOON = { timeout: 60_000 + LIKERS }

type Rows = { likes: number; hidden: number; isMoving: boolean | null }

/** Seeds likes with a time limit that fits their number. */
async function seedLikers({ databaseUrl }: TestApp, postId: string): Promise<void> {
  const limits = { connections: 1, statementTimeoutMs: 300_000 }
  const { db, close } = openDatabase(databaseUrl, () => {}, limits)
  await seedFans(db, postId, LIKERS).finally(close)
}

/** Runs a call and, in a run with LIKERS, prints how long it took. */
async function timed<T>(what: string, call: () => Promise<T>): Promise<T> {
  const since = performance.now()
  const result = await call()
  const ms = Math.round(performance.now() - since)
  if (process.env.LIKERS) process.stdout.write(`${what} with ${LIKERS} likes: ${ms} ms\n`)
  return result
}

/**
 * How many likes of a post count for their users and how many do not, and whether they are still to
 * follow the post.
 */
async function rowsOf({ db }: TestApp, id: string): Promise<Rows | undefined> {
  const { rows } = await sql<Rows>`SELECT
    (SELECT count(*) FROM likes WHERE post_id = ${id} AND NOT post_hidden)::int AS likes,
    (SELECT count(*) FROM likes WHERE post_id = ${id} AND post_hidden)::int AS hidden,
    (SELECT likes_moving_since IS NOT NULL FROM posts WHERE id = ${id}) AS "isMoving"`.execute(db)
  return rows[0]
}

const liked = async (app: TestApp, { token }: TestUser) =>
  (await app.call('GET', '/posts?filter=liked', { token })).body

test(
  'a post with 20,000 likes is gone from every screen at once, and back at once; its likes follow in steps, with exact counts',
  async () => {
    const app = await appForTest()
    const moderator = await signUpModerator(app)
    const { token } = moderator
    const olga = await app.signUp()
    const post = await app.publish(olga, 'Все меня любят')
    const other = await app.publish(olga, 'Остаюсь')
    await seedLikers(app, post.id)
    const fan = await app.signIn('fan1@example.org')
    await app.call('POST', `/posts/${other.id}/likes`, { token: fan.token })
    const before = (await app.call('GET', `/posts/${post.id}`, { token })).body
    expect(before.actions.likes_count).toBe(LIKERS)

    async function expectGone() {
      expectRefusal(await app.call('GET', `/posts/${post.id}`, { token }), 'POST_NOT_FOUND')
      expect(await liked(app, fan)).toMatchObject({ total: 1, posts: [{ id: other.id }] })
      expect(await findCounterDifferences(app.db)).toEqual([])
    }
    await report(app, fan, { postId: post.id })
    await timed('remove', () => decide(app, moderator, { postId: post.id, verdict: 'remove' }))
    await expectGone()
    const moving = timed('hide its likes', () =>
      expect
        .poll(() => rowsOf(app, post.id), SOON)
        .toEqual({ likes: 0, hidden: LIKERS, isMoving: false }),
    )
    const calls = { user: moderator, postId: other.id }
    // Somebody who had to wait for the whole move would have been served once.
    expect(await servedMeanwhile(app, calls, moving)).toBeGreaterThan(1)
    await moving
    await expectGone()

    await sql`INSERT INTO appeals (post_id, user_id, text) VALUES (${post.id}, ${olga.id}, 'Верните')`.execute(
      app.db,
    )
    await timed('restore', () => decide(app, moderator, { postId: post.id, verdict: 'keep' }))
    expect((await app.call('GET', `/posts/${post.id}`, { token })).body).toEqual(before)
    expect(await findCounterDifferences(app.db)).toEqual([])
    await timed('show its likes', () =>
      expect
        .poll(() => rowsOf(app, post.id), SOON)
        .toEqual({ likes: LIKERS, hidden: 0, isMoving: false }),
    )
    expect(await liked(app, fan)).toMatchObject({
      total: 2,
      posts: [{ id: other.id }, { id: post.id }],
    })
    expect(await findCounterDifferences(app.db)).toEqual([])
  },
  180_000 + 2 * LIKERS,
)

test('a post that is removed again while its likes come back stays removed, with exact counts', async () => {
  const app = await appForTest()
  const moderator = await signUpModerator(app)
  const { token } = moderator
  const olga = await app.signUp()
  const { id: postId } = await app.publish(olga)
  await seedFans(app.db, postId, 12_000)
  await report(app, await app.signUp(), { postId })
  await decide(app, moderator, { postId, verdict: 'remove' })
  await expect.poll(() => rowsOf(app, postId), SOON).toMatchObject({ likes: 0, isMoving: false })
  await restore(app, postId)
  // A text that was restored is not reported again.
  const edit = { token: olga.token, body: { text: 'Иначе' } }
  await app.call('PATCH', `/posts/${postId}`, edit)
  await report(app, await app.signUp(), { postId })
  await decide(app, moderator, { postId, verdict: 'remove' })
  expectRefusal(await app.call('GET', `/posts/${postId}`, { token }), 'POST_NOT_FOUND')
  await expect
    .poll(() => rowsOf(app, postId), SOON)
    .toEqual({ likes: 0, hidden: 12_000, isMoving: false })
  expect(await findCounterDifferences(app.db)).toEqual([])
}, 120_000)

test('replies that are deleted while the replied post is restored are counted neither too often nor too seldom', async () => {
  const app = await appForTest()
  const moderator = await signUpModerator(app)
  const olga = await app.signUp()
  for (let round = 0; round < 20; round++) {
    const { id: postId } = await app.publish(olga)
    const replies = await Promise.all([1, 2, 3, 4].map(() => app.reply(olga, postId)))
    await report(app, moderator, { postId })
    await decide(app, moderator, { postId, verdict: 'remove' })
    const answers = await atOnce([
      () => restore(app, postId).then(() => ({ status: 204 })),
      ...replies.map(
        ({ id }) =>
          () =>
            app.call('DELETE', `/posts/${id}`, { token: olga.token }),
      ),
    ])
    expect(answers.map(({ status }) => status)).toEqual([204, 204, 204, 204, 204])
    expect(await findCounterDifferences(app.db)).toEqual([])
  }
}, 60_000)

test('what has expired is deleted for good: the post, its likes, old reports and blocks that are over', async () => {
  const app = await appForTest()
  const moderator = await signUpModerator(app)
  const olga = await app.signUp()
  const { id: postId } = await app.publish(olga)
  await app.call('POST', `/posts/${postId}/likes`, { token: moderator.token })
  await report(app, moderator, { postId })
  await decide(app, moderator, { postId, verdict: 'remove', block: { days: 1 } })
  await addJob(app.db, 'remove-expired', { payload: {} })
  expect(await rowsOf(app, postId)).toEqual({ likes: 0, hidden: 1, isMoving: false })
  await sql`UPDATE posts SET hidden_until = hidden_until - interval '31 days'`.execute(app.db)
  await sql`UPDATE reports SET created_at = created_at - interval '181 days'`.execute(app.db)
  await sql`UPDATE blocks SET until = until - interval '2 days'`.execute(app.db)
  await addJob(app.db, 'remove-expired', { payload: {} })
  for (const table of ['posts', 'likes', 'reports', 'blocks'] as const) {
    await expect.poll(() => app.db.selectFrom(table).selectAll().execute(), SOON).toEqual([])
  }
})

/** Counts the rounds of reading and liking that are served until a move has ended. */
async function servedMeanwhile(
  app: TestApp,
  { user, postId }: { user: TestUser; postId: string },
  until: Promise<unknown>,
): Promise<number> {
  let isOver = false
  let rounds = 0
  const end = () => {
    isOver = true
  }
  until.then(end, end)
  while (!isOver) {
    for (const [method, path] of [
      ['GET', '/posts?limit=50'],
      ['POST', `/posts/${postId}/likes`],
      ['DELETE', `/posts/${postId}/likes`],
    ] as const) {
      expect((await app.call(method, path, { token: user.token })).status, path).toBe(200)
    }
    rounds += 1
  }
  return rounds
}
