import { sql } from 'kysely'
import { expect, onTestFinished, test } from 'vitest'
import type { TestUser } from '../../testing/client.ts'
import { expectRefusal } from '../../testing/expect-refusal.ts'
import { signUpEarlier } from '../../testing/passing-time.ts'
import { from } from '../../testing/sign-in-calls.ts'
import { appForTest, testPerNode } from '../../testing/test-app.ts'
import { openDatabase } from '../db/database.ts'
import { countHashed } from './gcra.repository.ts'
import { chargePublication } from './publication-limits.ts'
import { createLimits } from './rate-limits.ts'

testPerNode('limits counted in memory, by each node for itself')(
  'an account that is less than a day old publishes once a minute, an older one at once',
  async () => {
    const app = await appForTest({ config: { rateLimitScale: 1, trustProxy: ['127.0.0.1/32'] } })
    const write = (token: string, text: string) =>
      app.call('POST', '/posts', { token, body: { text }, ...from('192.0.2.9') })
    const olga = await app.signUp()
    expect((await write(olga.token, 'Первая')).status).toBe(201)
    const second = await write(olga.token, 'Вторая')
    expectRefusal(second, 'TOO_MANY_REQUESTS')
    expect(second.body.message).toMatch(/^Первые сутки — одна запись в минуту\. /)
    expect(Number(second.headers.get('retry-after'))).toBeGreaterThan(50)
    const vera = await signUpEarlier(app)
    for (const text of ['Раз', 'Два', 'Три']) {
      expect((await write(vera.token, text)).status).toBe(201)
    }
  },
)

test('an account that is less than a day old publishes 20 times a day, posts and replies together', async () => {
  // Ten times as many as without the scale, so that the limit of a minute lets all of these pass:
  // 200, and ten a day.
  const app = await appForTest({ config: { rateLimitScale: 10 } })
  const [olga, vera] = [await app.signUp(), await signUpEarlier(app)]
  const write = ({ token }: TestUser, path: string) =>
    app.call('POST', path, { token, body: { text: 'Ещё одна' } })
  const first = await write(olga, '/posts')
  expect(first.status).toBe(201)
  const replies = `/posts/${first.body.id}/replies`
  await sql`UPDATE rate_limits SET arrival = arrival + 198 * interval '1 day' / 10
    WHERE key LIKE 'newcomer-day/%'`.execute(app.db)
  expect((await write(olga, replies)).status).toBe(201)
  for (const path of ['/posts', replies]) {
    const refused = await write(olga, path)
    expectRefusal(refused, 'TOO_MANY_REQUESTS')
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(3600)
  }
  expect((await write(vera, '/posts')).status).toBe(201)
})

test('the twentieth publication of a newcomer is the last of a day', async () => {
  const app = await appForTest()
  const { pool, close } = openDatabase(app.databaseUrl, () => {})
  onTestFinished(close)
  const limits = createLimits(1, countHashed(pool, Buffer.alloc(32)))
  for (let publication = 1; publication <= 20; publication++) await limits.newcomerDays.charge('7')
  await expect(chargePublication(limits, { userId: '7', isNewcomer: true })).rejects.toMatchObject({
    code: 'TOO_MANY_REQUESTS',
  })
  await chargePublication(limits, { userId: '7' })
  await chargePublication(limits, { userId: '8', isNewcomer: true })
})

test('what is refunded can be used again, however often others were refused meanwhile', async () => {
  const app = await appForTest()
  const { pool, close } = openDatabase(app.databaseUrl, () => {})
  onTestFinished(close)
  const { downloads, usernameChecks } = createLimits(1, countHashed(pool, Buffer.alloc(32)))
  for (const [limit, most] of [
    [downloads, 1],
    [usernameChecks, 20],
  ] as const) {
    for (let event = 0; event < most; event++) await limit.charge('7')
    for (let refused = 0; refused < 2; refused++) await expect(limit.charge('7')).rejects.toThrow()
    await limit.refund('7')
    await limit.charge('7')
    await expect(limit.charge('7')).rejects.toThrow()
  }
})
