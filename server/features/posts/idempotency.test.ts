import { sql } from 'kysely'
import { afterAll, expect, test } from 'vitest'
import { addJob } from '../../kernel/queue/queue.ts'
import { atOnce } from '../../testing/at-once.ts'
import type { TestUser } from '../../testing/client.ts'
import { expectRefusal } from '../../testing/expect-refusal.ts'
import { startTestApp } from '../../testing/test-app.ts'
import { findCounterDifferences } from './counters.task.ts'

const app = await startTestApp()
const olga = await app.signUp()
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

test('a retry with the same Idempotency-Key returns the first post and publishes nothing', async () => {
  const petr = await app.signUp()
  const first = await send({ key: 'k-1', by: petr })
  expect(first.status).toBe(201)
  expect(await send({ key: 'k-1', by: petr })).toMatchObject({ status: 201, body: first.body })
  const changed = await send({ key: 'k-1', text: 'Уже иначе', by: petr })
  expect(changed.body).toEqual(first.body)
  expect(await wallOf(petr)).toMatchObject({ total: 1, posts: [first.body] })
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

test('another key, or the same key of another user, publishes another post', async () => {
  const petr = await app.signUp()
  const posts = [
    await send({ key: 'same' }),
    await send({ key: 'Same' }),
    await send({ key: 'same', by: petr }),
  ]
  expect(new Set(posts.map(({ body }) => body.id)).size).toBe(3)
  expect(posts[2]?.body.owner.id).toBe(petr.id)
})

test('a retry of a reply returns the reply even when the replied post has been deleted', async () => {
  const parent = await app.publish(olga)
  const first = await send({ key: 'late', to: parent.id })
  await app.call('DELETE', `/posts/${parent.id}`, { token: olga.token })
  const retry = await send({ key: 'late', to: parent.id })
  expect(retry).toMatchObject({ status: 201, body: { id: first.body.id } })
  expectRefusal(await send({ key: 'later', to: parent.id }), 'POST_NOT_FOUND')
})

test('a retry with the key of a deleted post is POST_NOT_FOUND, and publishes nothing', async () => {
  const petr = await app.signUp()
  const { body } = await send({ key: 'gone', by: petr })
  await app.call('DELETE', `/posts/${body.id}`, { token: petr.token })
  for (const text of ['Один раз', 'Уже иначе']) {
    expectRefusal(await send({ key: 'gone', text, by: petr }), 'POST_NOT_FOUND')
  }
  expect((await wallOf(petr)).total).toBe(0)
  expect((await send({ key: 'new', by: petr })).status).toBe(201)
})

test('a retry with the key of a deleted reply is POST_NOT_FOUND, whether the replied post exists or not', async () => {
  const parent = await app.publish(olga)
  const { body } = await send({ key: 'gone-reply', to: parent.id })
  await app.call('DELETE', `/posts/${body.id}`, { token: olga.token })
  expectRefusal(await send({ key: 'gone-reply', to: parent.id }), 'POST_NOT_FOUND')
  expect((await repliesTo(parent.id)).total).toBe(0)
  await app.call('DELETE', `/posts/${parent.id}`, { token: olga.token })
  expectRefusal(await send({ key: 'gone-reply', to: parent.id }), 'POST_NOT_FOUND')
})

test('retries while the post is being deleted return that post or POST_NOT_FOUND, never another post', async () => {
  const petr = await app.signUp()
  for (let round = 0; round < 8; round++) {
    const key = `race-${round}`
    const first = await send({ key, by: petr })
    const retries = Array.from({ length: 8 }, () => () => send({ key, by: petr }))
    const remove = () => app.call('DELETE', `/posts/${first.body.id}`, { token: petr.token })
    for (const { status, body } of await atOnce(retries.toSpliced(round, 0, remove))) {
      expect([201, 204, 404]).toContain(status)
      if (status === 201) expect(body.id).toBe(first.body.id)
    }
    expect((await wallOf(petr)).total).toBe(0)
  }
})

test('a key is stored for a day, and publishes again after that', async () => {
  const petr = await app.signUp()
  const first = await send({ key: 'yesterday', by: petr })
  const second = await send({ key: 'today', by: petr })
  await sql`UPDATE idempotency_keys SET created_at = created_at - interval '25 hours'
    WHERE owner_id = ${petr.id} AND key = 'yesterday'`.execute(app.db)
  await addJob(app.db, 'remove-expired', { payload: {} })
  await expect.poll(() => keysOf(petr)).toEqual(['today'])
  expect((await send({ key: 'today', by: petr })).body.id).toBe(second.body.id)
  const again = await send({ key: 'yesterday', by: petr })
  expect(again.status).toBe(201)
  expect(again.body.id).not.toBe(first.body.id)
})

async function keysOf({ id }: TestUser): Promise<string[]> {
  const rows = await app.db
    .selectFrom('idempotency_keys')
    .select('key')
    .where('owner_id', '=', id)
    .execute()
  return rows.map(({ key }) => key)
}

test.each(['', 'ключ', 'a b', 'x'.repeat(101)])(
  'the Idempotency-Key «%s» is INVALID_REQUEST',
  async (key) => {
    // fetch takes header values as bytes, one character each.
    const bytes = Buffer.from(key).toString('latin1')
    expectRefusal(await send({ key: bytes }), 'INVALID_REQUEST')
  },
)
