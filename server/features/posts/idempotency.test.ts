import { expect, test } from 'vitest'
import { addJob } from '../../kernel/queue/queue.ts'
import { atOnce } from '../../testing/http/at-once.ts'
import type { TestUser } from '../../testing/http/client.ts'
import { expectRefusal } from '../../testing/http/expect-refusal.ts'
import { appForFile } from '../../testing/test-app.ts'

const app = await appForFile()
const olga = await app.signUp()

type Sent = { key: string; text?: string; to?: string; by?: TestUser }

function send({ key, text = 'Один раз', to, by = olga }: Sent) {
  const path = to === undefined ? '/posts' : `/posts/${to}/replies`
  const headers = { 'idempotency-key': key }
  return app.call('POST', path, { token: by.token, headers, body: { text } })
}

const wallOf = ({ id }: TestUser) => app.read(`/posts?userId=${id}&limit=50`)
const remove = (id: string, { token } = olga) => app.call('DELETE', `/posts/${id}`, { token })
const repliesTo = async (id: string) => (await app.read(`/posts/${id}/replies`)).total

test('a retry with the same Idempotency-Key returns the first post and publishes nothing; another key, or another user’s, publishes', async () => {
  const petr = await app.signUp()
  const first = await send({ key: 'k-1', by: petr })
  expect(first.status).toBe(201)
  for (const text of ['Один раз', 'Уже иначе']) {
    const again = await send({ key: 'k-1', text, by: petr })
    expect(again).toMatchObject({ status: 201, body: first.body })
  }
  expect(await wallOf(petr)).toMatchObject({ total: 1, posts: [first.body] })
  for (const other of [{ key: 'K-1', by: petr }, { key: 'k-1' }]) {
    expect((await send(other)).body.id).not.toBe(first.body.id)
  }
})

test('20 parallel requests with one key publish one reply, and its parent counts it once', async () => {
  const { id: to } = await app.publish(olga)
  const answers = await atOnce(Array.from({ length: 20 }, () => () => send({ key: 'storm', to })))
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([201]))
  expect(new Set(answers.map(({ body }) => body.id)).size).toBe(1)
  expect(await repliesTo(to)).toBe(1)
  expect((await app.read(`/posts/${to}`)).actions.replies_count).toBe(1)
})

test('a retry of a reply returns the reply even when the replied post has been deleted, unless the reply is gone too', async () => {
  const { id: to } = await app.publish(olga)
  const [late, gone] = [await send({ key: 'late', to }), await send({ key: 'gone-reply', to })]
  await remove(gone.body.id)
  expectRefusal(await send({ key: 'gone-reply', to }), 'POST_NOT_FOUND')
  expect(await repliesTo(to)).toBe(1)
  await remove(to)
  const retry = await send({ key: 'late', to })
  expect(retry).toMatchObject({ status: 201, body: { id: late.body.id } })
  for (const key of ['gone-reply', 'later']) {
    expectRefusal(await send({ key, to }), 'POST_NOT_FOUND')
  }
})

test('a key is stored for a day, and publishes again after that', async () => {
  const petr = await app.signUp()
  const first = await send({ key: 'yesterday', by: petr })
  const second = await send({ key: 'today', by: petr })
  const keys = () => app.sql`SELECT key FROM idempotency_keys WHERE owner_id = ${petr.id}`
  await app.sql`UPDATE idempotency_keys SET created_at = created_at - interval '25 hours'
    WHERE owner_id = ${petr.id} AND key = 'yesterday'`
  await addJob(app.db, 'remove-expired')
  await expect.poll(keys).toEqual([{ key: 'today' }])
  expect((await send({ key: 'today', by: petr })).body.id).toBe(second.body.id)
  const again = await send({ key: 'yesterday', by: petr })
  expect(again.status).toBe(201)
  expect(again.body.id).not.toBe(first.body.id)
})

test.each(['', 'ключ', 'a b', 'x'.repeat(101)])(
  'the Idempotency-Key «%s» is INVALID_REQUEST',
  async (key) => {
    // fetch takes header values as bytes, one character each.
    const bytes = Buffer.from(key).toString('latin1')
    expectRefusal(await send({ key: bytes }), 'INVALID_REQUEST')
  },
)
