import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { expectRefusal } from '../testing/expect-refusal.ts'
import { appForTest, type TestApp } from '../testing/test-app.ts'

const CONNECTIONS = 20

/** Edits so many posts at once while the table is locked; returns each answer and its duration (ms), the quickest first. */
async function editAgainstLock(app: TestApp, count: number) {
  const olga = await app.signUp()
  const posts = await Promise.all(Array.from({ length: count }, () => app.publish(olga)))
  const { token } = olga
  return app.db.transaction().execute(async (tx) => {
    await sql`LOCK TABLE posts IN EXCLUSIVE MODE`.execute(tx)
    const answers = await Promise.all(
      posts.map(async ({ id }) => {
        const began = performance.now()
        const answer = await app.call('PATCH', `/posts/${id}`, { token, body: { text: 'Жду' } })
        return { answer, ms: performance.now() - began }
      }),
    )
    return answers.sort((a, b) => a.ms - b.ms)
  })
}

test('a statement is given up after 3 s: 503 with Retry-After', async () => {
  const [only] = await editAgainstLock(await appForTest(), 1)
  if (!only) throw new Error('nothing was edited')
  expectRefusal(only.answer, 'UNAVAILABLE')
  expect(only.answer.headers.get('retry-after')).toMatch(/^[1-9]\d*$/)
  expect(only.ms).toBeGreaterThan(2900)
})

test('waiting for a connection is given up after 1 s: 503, long before the running statements end', async () => {
  const answers = await editAgainstLock(await appForTest(), CONNECTIONS + 5)
  for (const { answer } of answers) expectRefusal(answer, 'UNAVAILABLE')
  const refused = answers.filter(({ ms }) => ms < 2900)
  expect(refused.length).toBeGreaterThanOrEqual(5)
  for (const { ms } of refused) expect(ms).toBeGreaterThan(900)
})
