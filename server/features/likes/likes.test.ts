import { sql } from 'kysely'
import { expect, test } from 'vitest'
import type { Post } from '../../../contract/posts.ts'
import { addJob } from '../../kernel/queue/queue.ts'
import { seedFans } from '../../testing/database/seed.ts'
import { atOnce } from '../../testing/http/at-once.ts'
import type { TestUser } from '../../testing/http/client.ts'
import { expectRefusal } from '../../testing/http/expect-refusal.ts'
import { appForFile } from '../../testing/test-app.ts'
import { findCounterDifferences } from '../posts/counters.task.ts'
import { setHidden } from '../posts/hidden-posts.repository.ts'

const app = await appForFile()
const olga = await app.signUp()
const users = await app.signUps(10)
const [petr] = users as [TestUser]

const change = (method: 'POST' | 'DELETE', id: string, { token } = olga, body?: object) =>
  app.call(method, `/posts/${id}/likes`, { token, body })
const like = (id: string, user = olga) => change('POST', id, user)
const unlike = (id: string, user = olga) => change('DELETE', id, user)
const liked = (user: TestUser) => app.read('/posts?filter=liked', user)
const idsOf = ({ posts }: { posts: Post[] }) => posts.map(({ id }) => id)
const likesOf = async (id: string) => (await app.read(`/posts/${id}`)).actions.likes_count

test('liking twice and unliking twice succeed and change nothing; a body may only be empty', async () => {
  const { id } = await app.publish(petr)
  expect((await unlike(id)).body).toEqual({ likes_count: 0 })
  expectRefusal(await change('POST', id, olga, { likes: 1000 }), 'INVALID_REQUEST')
  expect((await change('POST', id, olga, {})).body).toEqual({ likes_count: 1 })
  expect((await like(id)).body).toEqual({ likes_count: 1 })
  for (const _ of [1, 2]) expect((await unlike(id)).body).toEqual({ likes_count: 0 })
})

test('the liked list has posts and replies by the time of the like, and belongs to the viewer: a visitor has none, the viewer’s own userId changes nothing, and another’s is refused with a reason', async () => {
  const viewer = await app.signUp()
  const first = await app.publish(olga, 'Первая')
  const second = await app.publish(petr, 'Вторая')
  const reply = await app.reply(petr, first.id)
  for (const { id } of [second, reply, first]) await like(id, viewer)
  const list = await liked(viewer)
  expect(idsOf(list)).toEqual([first.id, reply.id, second.id])
  expect(list).toMatchObject({ total: 3, lastPage: 1, nextCursor: null })
  const actions = { is_liked: true, likes_count: 1 }
  expect(list.posts[1].actions.replied_post).toMatchObject({ id: first.id, actions })

  expectRefusal(await app.call('GET', '/posts?filter=liked'), 'UNAUTHORIZED')
  const likedOf = ({ id }: TestUser) =>
    app.call('GET', `/posts?userId=${id}&filter=liked`, { token: viewer.token })
  expect((await likedOf(viewer)).body).toEqual(list)
  const refused = await likedOf(petr)
  expectRefusal(refused, 'INVALID_REQUEST')
  expect(refused.body.message).toMatch(/Понравившиеся записи видит только тот/)

  await unlike(reply.id, viewer)
  await unlike(second.id, viewer)
  await like(second.id, viewer)
  expect(idsOf(await liked(viewer))).toEqual([second.id, first.id])
})

test('after 100 concurrent likes and unlikes of one post by ten users the count equals the rows', async () => {
  const post = await app.publish(olga)
  const race = users.flatMap((user, u) =>
    Array.from({ length: 10 }, (_, n) => () => ((u + n) % 3 ? like : unlike)(post.id, user)),
  )
  const answers = await atOnce(race)
  expect(answers.map(({ status }) => status)).toEqual(race.map(() => 200))
  const rows = await app.sql`SELECT FROM likes WHERE post_id = ${post.id}`
  expect(await likesOf(post.id)).toBe(rows.length)
})

/** Holds a like of a post, as a transaction does that changes it, until the result is rolled back. */
async function holdLike(postId: string, { id }: TestUser) {
  const holder = await app.db.startTransaction().execute()
  await sql`SET LOCAL idle_in_transaction_session_timeout = 0`.execute(holder)
  await sql`SELECT FROM likes WHERE post_id = ${postId} AND user_id = ${id} FOR UPDATE`.execute(
    holder,
  )
  return holder
}

test('a post that is hidden leaves its likers’ lists and totals, and has its place in them again once it is shown, whatever becomes of its likes meanwhile', async () => {
  const viewer = await app.signUp()
  const posts = [await app.publish(olga), await app.publish(olga), await app.publish(olga)]
  for (const { id } of posts) await like(id, viewer)
  const [first, hidden, last] = posts.map(({ id }) => id) as [string, string, string]
  const holder = await holdLike(hidden, viewer)
  await setHidden(app.db, [hidden], { why: 'removed', reason: 'Спам', by: 'vera', days: 30 })
  const without = await liked(viewer)
  expect(without).toMatchObject({ total: 2, lastPage: 1, nextCursor: null })
  expect(idsOf(without)).toEqual([last, first])
  const newest = await app.read('/posts?filter=liked&limit=1', viewer)
  const next = await app.read(`/posts?filter=liked&limit=1&cursor=${newest.nextCursor}`, viewer)
  expect([idsOf(newest), idsOf(next), next.nextCursor]).toEqual([[last], [first], null])
  await setHidden(app.db, [hidden], null)
  await holder.rollback().execute()
  const again = await liked(viewer)
  expect(again.total).toBe(3)
  expect(idsOf(again)).toEqual([last, hidden, first])
  expect(await likesOf(hidden)).toBe(1)
})

/** More than one step of 5,000, and less than two. */
const LIKERS = 6000
const LEFT_BY_A_STEP = 1000
const rowsLeft = async (id: string) =>
  (await app.sql`SELECT FROM likes WHERE post_id = ${id}`).length
const isLeft = async (id: string) => (await app.sql`SELECT FROM posts WHERE id = ${id}`).length > 0

test('a deleted post leaves every list and total at once and its likes are removed in steps, with exact counts in between, also those that a killed process has left', async () => {
  const [doomed, other] = [await app.publish(olga), await app.publish(olga)]
  await seedFans(app.db, doomed.id, LIKERS)
  const first = await app.signIn('fan1@example.org')
  const last = await app.signIn(`fan${LIKERS}@example.org`)
  for (const user of [first, last]) await like(other.id, user)
  const holder = await holdLike(doomed.id, last)

  async function expectGone() {
    expectRefusal(await app.call('GET', `/posts/${doomed.id}`), 'POST_NOT_FOUND')
    for (const user of [first, last]) {
      const list = await liked(user)
      expect(list).toMatchObject({ total: 1, lastPage: 1, nextCursor: null })
      expect(idsOf(list)).toEqual([other.id])
    }
    expect(await findCounterDifferences(app.db)).toEqual([])
  }
  const { status } = await app.call('DELETE', `/posts/${doomed.id}`, { token: olga.token })
  expect(status).toBe(204)
  await expectGone()
  await expect.poll(() => rowsLeft(doomed.id)).toBe(LEFT_BY_A_STEP)
  await expectGone()
  await holder.rollback().execute()
  await expect.poll(() => isLeft(doomed.id)).toBe(false)
  await expectGone()

  const { id } = await app.publish(olga)
  await app.sql`INSERT INTO likes (post_id, user_id) SELECT ${id}::bigint, id FROM users`
  // Deleted by a process that was killed before it erased any of them.
  await app.sql`UPDATE posts SET hidden_for = 'deleted', hidden_until = now(), text = ''
    WHERE id = ${id}`
  for (let run = 0; run < 4; run++) await addJob(app.db, 'purge-posts')
  await expect.poll(() => isLeft(id)).toBe(false)
  expect(await rowsLeft(id)).toBe(0)
}, 60_000)
