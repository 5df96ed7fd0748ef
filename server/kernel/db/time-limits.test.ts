import { sql } from 'kysely'
import { expect, test } from 'vitest'
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
