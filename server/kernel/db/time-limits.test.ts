import { sql } from 'kysely'
import { expect, test } from 'vitest'
import type { TestUser } from '../../testing/http/client.ts'
import { expectRefusal } from '../../testing/http/expect-refusal.ts'
import { appForTest } from '../../testing/test-app.ts'

const CONNECTIONS = 20

test('a statement is given up after 3 s and waiting for a connection after 1 s: 503 with Retry-After', async () => {
  const app = await appForTest({ keepsTimeLimits: true })
  const olga = await app.signUp()
  const { id } = await app.publish(olga)
  // Each edit has a statement of its own.
  async function edit(n: number): Promise<number> {
    const began = performance.now()
    const body = { text: `Жду ${n}` }
    const answer = await app.call('PATCH', `/posts/${id}`, { token: olga.token, body })
    expectRefusal(answer, 'UNAVAILABLE')
    expect(answer.headers.get('retry-after')).toMatch(/^[1-9]\d*$/)
    return performance.now() - began
  }
  const times = await app.db.transaction().execute(async (tx) => {
    await sql`LOCK TABLE posts IN EXCLUSIVE MODE`.execute(tx)
    return Promise.all(Array.from({ length: CONNECTIONS + 5 }, (_, n) => edit(n)))
  })
  const refused = times.filter((ms) => ms < 2900)
  expect(refused.length).toBeGreaterThanOrEqual(5)
  expect(Math.min(...refused)).toBeGreaterThan(900)
  expect(Math.max(...times)).toBeGreaterThan(2900)
})

const SENT = 40

test.each<[string, (post: string) => [path: string, body: object | undefined]]>([
  ['replies', (id) => [`/posts/${id}/replies`, { text: 'Жду' }]],
  ['likes', (id) => [`/posts/${id}/likes`, undefined]],
  ['reports', (id) => [`/posts/${id}/reports?reason_id=1`, {}]],
])(
  '%s to a post that another transaction holds are refused soon, 503 with Retry-After, and nobody else is',
  async (_what, sentTo) => {
    const app = await appForTest({ keepsTimeLimits: true })
    const [author, other] = [await app.signUp(), await app.signUp()]
    const people = await app.signUps(SENT)
    const { id } = await app.publish(author)
    const [path, body] = sentTo(id)
    const send = async ({ token }: TestUser) => {
      const began = performance.now()
      const answer = await app.call('POST', path, { token, ...(body && { body }) })
      return { answer, ms: performance.now() - began }
    }
    await app.db.transaction().execute(async (tx) => {
      await sql`SELECT FROM posts WHERE id = ${id} FOR UPDATE`.execute(tx)
      const sent = Promise.all(people.map(send))
      let isOver = false
      const over = sent.finally(() => {
        isOver = true
      })
      while (!isOver) {
        expect((await app.call('GET', '/sessions', { token: other.token })).status).toBe(200)
        await app.publish(other)
      }
      for (const { answer, ms } of await over) {
        expectRefusal(answer, 'UNAVAILABLE')
        expect(answer.headers.get('retry-after')).toMatch(/^[1-9]\d*$/)
        expect(ms).toBeLessThan(2000)
      }
    })
    expect((await send(other)).answer.status).toBeLessThan(300)
  },
)
