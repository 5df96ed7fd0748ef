import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Post } from '../../contract/posts.ts'
import { findCounterDifferences } from '../posts/counters.task.ts'
import { atOnce, signUps } from '../testing/at-once.ts'
import type { TestAnswer, TestUser } from '../testing/client.ts'
import { startTestApp, type TestApp } from '../testing/test-app.ts'

let app: TestApp
let users: TestUser[]
let olga: TestUser
beforeAll(async () => {
  app = await startTestApp()
  olga = await app.signUp()
  users = await signUps(app, 12)
})
afterAll(() => app.close())

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
  expect(statuses(await atOnce(race))).toEqual([200, 204, 404])
  expect(await findCounterDifferences(app.db)).toEqual([])
})

test('deleting a liked reply while the replied post is being liked never deadlocks', async () => {
  const [parent] = await publishMany(1)
  if (!parent) throw new Error('nothing was published')
  const replies = await atOnce(Array.from({ length: 40 }, () => () => app.reply(olga, parent.id)))
  await atOnce(replies.flatMap(({ id }) => users.map((user) => like(id, user))))
  const race = replies.flatMap(({ id }, n) => [
    remove(id, olga),
    ...users.slice(0, 6).map((user) => (n % 2 ? unlike : like)(parent.id, user)),
  ])
  expect(statuses(await atOnce(race))).toEqual([200, 204])
  expect(await findCounterDifferences(app.db)).toEqual([])
})
