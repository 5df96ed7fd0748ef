import { sql } from 'kysely'
import { expect, test } from 'vitest'
import type { TestAnswer } from '../../testing/client.ts'
import { expectRefusal } from '../../testing/expect-refusal.ts'
import { appForTest, type TestApp } from '../../testing/test-app.ts'

const CONNECTIONS = 20

type Call = () => Promise<TestAnswer>

/** Calls at once while the table of posts is locked; returns each answer and its duration (ms), the quickest first. */
async function callAgainstLock(app: TestApp, calls: Call[]) {
  return app.db.transaction().execute(async (tx) => {
    await sql`LOCK TABLE posts IN EXCLUSIVE MODE`.execute(tx)
    const answers = await Promise.all(
      calls.map(async (call) => {
        const began = performance.now()
        const answer = await call()
        return { answer, ms: performance.now() - began }
      }),
    )
    return answers.sort((a, b) => a.ms - b.ms)
  })
}

test('a statement is given up after 3 s: 503 with Retry-After', async () => {
  const app = await appForTest()
  const { token } = await app.signUp()
  const publish = () => app.call('POST', '/posts', { token, body: { text: 'Жду' } })
  const [only] = await callAgainstLock(app, [publish])
  if (!only) throw new Error('nothing was published')
  expectRefusal(only.answer, 'UNAVAILABLE')
  expect(only.answer.headers.get('retry-after')).toMatch(/^[1-9]\d*$/)
  expect(only.ms).toBeGreaterThan(2900)
})

test('waiting for a connection is given up after 1 s: 503, long before the running statements end', async () => {
  const app = await appForTest({ poolLimits: { connectionWaitMs: 1000 } })
  const olga = await app.signUp()
  const { id } = await app.publish(olga)
  const { token } = olga
  // Each edit has a statement of its own.
  const edits = Array.from({ length: CONNECTIONS + 5 }, (_, n) => () => {
    return app.call('PATCH', `/posts/${id}`, { token, body: { text: `Жду ${n}` } })
  })
  const answers = await callAgainstLock(app, edits)
  for (const { answer } of answers) expectRefusal(answer, 'UNAVAILABLE')
  const refused = answers.filter(({ ms }) => ms < 2900)
  expect(refused.length).toBeGreaterThanOrEqual(5)
  for (const { ms } of refused) expect(ms).toBeGreaterThan(900)
})
