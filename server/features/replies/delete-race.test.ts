import { expect, test } from 'vitest'
import type { Post } from '../../../contract/posts.ts'
import { atOnce, signUps } from '../../testing/at-once.ts'
import type { TestAnswer, TestUser } from '../../testing/client.ts'
import { appForFile } from '../../testing/test-app.ts'
import { findCounterDifferences } from '../posts/counters.task.ts'

const app = await appForFile()
const olga = await app.signUp()
const users = await signUps(app, 6)

const reply =
  (to: string, { token }: TestUser) =>
  () =>
    app.call('POST', `/posts/${to}/replies`, { token, body: { text: 'Успею ли' } })
const remove =
  (id: string, { token }: TestUser) =>
  () =>
    app.call('DELETE', `/posts/${id}`, { token })
const counted = (answers: TestAnswer[]) => Map.groupBy(answers, ({ status }) => status)

async function expectAllThere(posts: Post[], repliedPost: unknown): Promise<void> {
  for (const { id } of posts) {
    const { status, body } = await app.call('GET', `/posts/${id}`)
    expect(status).toBe(200)
    expect(body.actions.replied_post).toEqual(repliedPost)
  }
}

test('replies to a post that is being deleted return 201 or 404, and every reply with 201 exists', async () => {
  for (let round = 0; round < 8; round++) {
    const post = await app.publish(olga)
    const replies = users.flatMap((user) => Array.from({ length: 4 }, () => reply(post.id, user)))
    const answers = await atOnce(replies.toSpliced(round, 0, remove(post.id, olga)))
    const {
      201: written = [],
      404: late = [],
      204: removed,
      ...odd
    } = Object.fromEntries(counted(answers))
    expect(odd).toEqual({})
    expect(removed).toHaveLength(1)
    expect(written.length + late.length).toBe(replies.length)
    await expectAllThere(
      written.map(({ body }) => body),
      null,
    )
  }
  expect(await findCounterDifferences(app.db)).toEqual([])
})

test('a user who deletes replies to a post while publishing more never deadlocks', async () => {
  const post = await app.publish(olga)
  const old = await atOnce(
    users.flatMap((user) =>
      Array.from({ length: 8 }, () => async () => ({ user, made: await app.reply(user, post.id) })),
    ),
  )
  const race = old.flatMap(({ user, made }) => [remove(made.id, user), reply(post.id, user)])
  const statuses = [...counted(await atOnce(race)).keys()].sort()
  expect(statuses).toEqual([201, 204])
  const { body } = await app.call('GET', `/posts/${post.id}`)
  expect(body.actions.replies_count).toBe(old.length)
  expect(await findCounterDifferences(app.db)).toEqual([])
})

test('deleting the posts of a thread concurrently, in any order, returns 204 for each', async () => {
  const root = await app.publish(olga)
  const thread = [root]
  for (let depth = 0; depth < 12; depth++) {
    thread.push(await app.reply(olga, thread.at(-1)?.id ?? '', `Глубина ${depth}`))
  }
  const answers = await atOnce(thread.toReversed().map(({ id }) => remove(id, olga)))
  expect([...counted(answers).keys()]).toEqual([204])
  expect(await findCounterDifferences(app.db)).toEqual([])
})
