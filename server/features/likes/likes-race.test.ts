import { sql } from 'kysely'
import { expect, test } from 'vitest'
import type { Post } from '../../../contract/posts.ts'
import type { Queryable } from '../../kernel/db/database.ts'
import { atOnce, signUps } from '../../testing/at-once.ts'
import type { TestAnswer, TestUser } from '../../testing/client.ts'
import { lockWaits } from '../../testing/databases.ts'
import { appForFile } from '../../testing/test-app.ts'
import { findCounterDifferences } from '../posts/counters.task.ts'
import { batchLikes } from './likes.routes.ts'

// A statement waits for a lock as long as a test needs.
const app = await appForFile({ poolLimits: { statementTimeoutMs: 60_000 } })
const olga = await app.signUp()
const users = await signUps(app, 12)

type Three = [TestUser, TestUser, TestUser]

const like =
  (id: string, { token }: TestUser) =>
  () =>
    app.call('POST', `/posts/${id}/likes`, { token })
const unlike =
  (id: string, { token }: TestUser) =>
  () =>
    app.call('DELETE', `/posts/${id}/likes`, { token })
const remove =
  (id: string, { token }: TestUser) =>
  () =>
    app.call('DELETE', `/posts/${id}`, { token })

const statuses = (answers: TestAnswer[]) => [...new Set(answers.map(({ status }) => status))].sort()

function publishMany(count: number): Promise<Post[]> {
  return atOnce(Array.from({ length: count }, () => () => app.publish(olga)))
}

test('many users who like many posts in opposite orders never deadlock', async () => {
  const posts = await publishMany(12)
  const race = users.flatMap((user, n) => {
    const order = n % 2 ? posts : posts.toReversed()
    return order.map(({ id }) => like(id, user))
  })
  expect(statuses(await atOnce(race))).toEqual([200])
  for (const { token } of users) {
    const { body } = await app.call('GET', '/posts?filter=liked', { token })
    expect(body.total).toBe(posts.length)
  }
  expect(await findCounterDifferences(app.db)).toEqual([])
})

test('deleting liked posts while they are being liked and unliked returns 200, 204 or 404, and leaves exact counts', async () => {
  const posts = await publishMany(16)
  await atOnce(posts.flatMap(({ id }) => users.map((user) => like(id, user))))
  const race = posts.flatMap(({ id }, n) => [
    ...users.slice(0, 4).map((user) => unlike(id, user)),
    ...(n % 2 ? [remove(id, olga)] : []),
    ...users.slice(0, 4).map((user) => like(id, user)),
  ])
  expect([200, 204, 404]).toEqual(expect.arrayContaining(statuses(await atOnce(race))))
  expect(await findCounterDifferences(app.db)).toEqual([])
})

test('deleting a liked reply while the replied post is being liked never deadlocks', async () => {
  const parent = await app.publish(olga)
  const replies = await atOnce(Array.from({ length: 40 }, () => () => app.reply(olga, parent.id)))
  await atOnce(replies.flatMap(({ id }) => users.map((user) => like(id, user))))
  const race = replies.flatMap(({ id }, n) => [
    remove(id, olga),
    ...users.slice(0, 6).map((user) => (n % 2 ? unlike : like)(parent.id, user)),
  ])
  expect(statuses(await atOnce(race))).toEqual([200, 204])
  expect(await findCounterDifferences(app.db)).toEqual([])
})

test('likes and an unlike of a post wait for another transaction on the users’ totals, and deadlock with none', async () => {
  const [post, other] = [await app.publish(olga), await app.publish(olga)]
  // The removal locks totals by rising user id.
  const [first, second, third] = users.toSorted((a, b) => Number(a.id) - Number(b.id)) as Three
  await atOnce([like(post.id, first), like(other.id, first), like(other.id, second)])
  const lockPost = await app.db.startTransaction().execute()
  await sql`SELECT FROM posts WHERE id = ${post.id} FOR UPDATE`.execute(lockPost)
  const setLike = batchLikes(app.db)
  const changes = [setLike({ postId: post.id, userId: third.id, isLiked: true })]
  await expect.poll(() => lockWaits(app)).toBe(1)
  // These two come while the first transaction on the post is running.
  changes.push(setLike({ postId: post.id, userId: second.id, isLiked: true }))
  changes.push(setLike({ postId: post.id, userId: first.id, isLiked: false }))
  const removal = await app.db.startTransaction().execute()
  await lockTotal(removal, first)
  await lockPost.rollback().execute()
  await expect.poll(() => lockWaits(app)).toBeGreaterThan(0)
  await lockTotal(removal, second)
  await removal.rollback().execute()
  await Promise.all(changes)
  const { body } = await app.call('GET', `/posts/${post.id}`)
  expect(body.actions.likes_count).toBe(2)
  expect(await findCounterDifferences(app.db)).toEqual([])
})

test('a like by an account that has just been erased fails alone among the likes of its transaction', async () => {
  const post = await app.publish(olga)
  const [first, second] = users as Three
  const setLike = batchLikes(app.db)
  const like = (userId: string) => setLike({ postId: post.id, userId, isLiked: true })
  // The first like has a transaction of its own, and the others share the next one.
  const likes = [like(olga.id), like(first.id), like('999999999'), like(second.id)]
  const ends = await Promise.allSettled(likes)
  expect(ends.map(({ status }) => status)).toEqual([
    'fulfilled',
    'fulfilled',
    'rejected',
    'fulfilled',
  ])
  expect(await findCounterDifferences(app.db)).toEqual([])
})

/** Locks a user's number of likes, as the removal of a deleted post's likes does. */
async function lockTotal(tx: Queryable, { id }: TestUser): Promise<void> {
  await sql`SELECT FROM like_totals WHERE user_id = ${id} FOR UPDATE`.execute(tx)
}
