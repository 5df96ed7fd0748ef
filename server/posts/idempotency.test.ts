import { afterAll, beforeAll, expect, test } from 'vitest'
import { atOnce } from '../testing/at-once.ts'
import type { TestUser } from '../testing/client.ts'
import { expectRefusal } from '../testing/expect-refusal.ts'
import { startTestApp, type TestApp } from '../testing/test-app.ts'
import { findCounterDifferences } from './posts.jobs.ts'

let app: TestApp
let olga: TestUser
beforeAll(async () => {
  app = await startTestApp()
  olga = await app.signUp()
})
afterAll(async () => {
  const differences = await findCounterDifferences(app.db)
  await app.close()
  expect(differences).toEqual([])
})

type Sent = { key: string; text?: string; to?: string; by?: TestUser }

function send({ key, text = 'Один раз', to, by = olga }: Sent) {
  const path = to === undefined ? '/posts' : `/posts/${to}/replies`
  const headers = { 'idempotency-key': key }
  return app.call('POST', path, { token: by.token, headers, body: { text } })
}

const wallOf = async (user: TestUser) =>
  (await app.call('GET', `/posts?userId=${user.id}&limit=50`)).body
const repliesTo = async (id: string) => (await app.call('GET', `/posts/${id}/replies`)).body

test('a retry with the same Idempotency-Key answers with the first post and publishes nothing', async () => {
  const petr = await app.signUp()
  const first = await send({ key: 'k-1', by: petr })
  expect(first.status).toBe(201)
  expect(await send({ key: 'k-1', by: petr })).toMatchObject({ status: 201, body: first.body })
  const changed = await send({ key: 'k-1', text: 'Уже иначе', by: petr })
  expect(changed.body).toEqual(first.body)
  expect(await wallOf(petr)).toMatchObject({ total: 1, posts: [first.body] })
})

test('20 parallel requests with one key publish one post and count it once', async () => {
  const petr = await app.signUp()
  const answers = await Promise.all(
    Array.from({ length: 20 }, () => send({ key: 'storm', by: petr })),
  )
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([201]))
  expect(new Set(answers.map(({ body }) => body.id)).size).toBe(1)
  expect(await wallOf(petr)).toMatchObject({ total: 1, posts: [{ id: answers[0]?.body.id }] })
})

test('20 parallel requests with one key publish one reply, and its parent counts it once', async () => {
  const parent = await app.publish(olga)
  const sends = Array.from({ length: 20 }, () => () => send({ key: 'reply-storm', to: parent.id }))
  const answers = await atOnce(sends)
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([201]))
  expect(new Set(answers.map(({ body }) => body.id)).size).toBe(1)
  expect((await repliesTo(parent.id)).total).toBe(1)
  const { body } = await app.call('GET', `/posts/${parent.id}`)
  expect(body.actions.replies_count).toBe(1)
})

test('another key and another user’s same key are other posts', async () => {
  const petr = await app.signUp()
  const posts = [
    await send({ key: 'same' }),
    await send({ key: 'Same' }),
    await send({ key: 'same', by: petr }),
  ]
  expect(new Set(posts.map(({ body }) => body.id)).size).toBe(3)
  expect(posts[2]?.body.owner.id).toBe(petr.id)
})

test('requests without a key are as many posts', async () => {
  const petr = await app.signUp()
  await app.publish(petr)
  await app.publish(petr)
  expect((await wallOf(petr)).total).toBe(2)
})

test('a retry of a reply answers with it even when the answered post was deleted meanwhile', async () => {
  const parent = await app.publish(olga)
  const first = await send({ key: 'late', to: parent.id })
  await app.call('DELETE', `/posts/${parent.id}`, { token: olga.token })
  const retry = await send({ key: 'late', to: parent.id })
  expect(retry).toMatchObject({ status: 201, body: { id: first.body.id } })
  expectRefusal(await send({ key: 'later', to: parent.id }), 'POST_NOT_FOUND')
})

test.each(['', 'ключ', 'a b', 'x'.repeat(101)])(
  'the Idempotency-Key «%s» is INVALID_REQUEST',
  async (key) => {
    // A header travels as bytes: each of them is a character of its own to fetch.
    const bytes = Buffer.from(key).toString('latin1')
    expectRefusal(await send({ key: bytes }), 'INVALID_REQUEST')
  },
)
