import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { addJob } from '../../kernel/queue/queue.ts'
import type { TestUser } from '../../testing/client.ts'
import { expectRefusal } from '../../testing/expect-refusal.ts'
import { decide, report, signUpModerator } from '../../testing/moderation-calls.ts'
import { seedFans } from '../../testing/seed.ts'
import { appForTest, type TestApp } from '../../testing/test-app.ts'
import { findCounterDifferences } from '../posts/counters.task.ts'
import { expectOthersServed } from '../posts/others-served.fixture.ts'

/** Four steps of 5,000. */
const LIKERS = 20_000
/** Long enough for a busy machine. */
const SOON = { timeout: 80_000 }

type Rows = { likes: number; hidden: number; isMoving: boolean | null }

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

test('a post with 20,000 likes is gone from every screen at once, and back at once; its likes follow in steps, with exact counts', async () => {
  // A busy machine needs seconds to insert these likes.
  const app = await appForTest({ poolLimits: { connections: 20, statementTimeoutMs: 60_000 } })
  const moderator = await signUpModerator(app)
  const { token } = moderator
  const olga = await app.signUp()
  const post = await app.publish(olga, 'Все меня любят')
  const other = await app.publish(olga, 'Остаюсь')
  await seedFans(app.db, post.id, LIKERS)
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
  await decide(app, moderator, { postId: post.id, verdict: 'remove' })
  await expectGone()
  const areHidden = expect
    .poll(() => rowsOf(app, post.id), SOON)
    .toEqual({ likes: 0, hidden: LIKERS, isMoving: false })
  await expectOthersServed(app, { by: moderator, postId: other.id }, areHidden)
  await expectGone()

  await sql`INSERT INTO appeals (post_id, user_id, text) VALUES (${post.id}, ${olga.id}, 'Верните')`.execute(
    app.db,
  )
  await decide(app, moderator, { postId: post.id, verdict: 'keep' })
  expect((await app.call('GET', `/posts/${post.id}`, { token })).body).toEqual(before)
  expect(await findCounterDifferences(app.db)).toEqual([])
  await expect
    .poll(() => rowsOf(app, post.id), SOON)
    .toEqual({ likes: LIKERS, hidden: 0, isMoving: false })
  expect(await liked(app, fan)).toMatchObject({
    total: 2,
    posts: [{ id: other.id }, { id: post.id }],
  })
  expect(await findCounterDifferences(app.db)).toEqual([])
}, 220_000)

test('expired posts, their likes, old reports and ended blocks are deleted for good', async () => {
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
