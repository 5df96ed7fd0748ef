import { sql } from 'kysely'
import { expect } from 'vitest'
import type { TestUser } from '../../testing/client.ts'
import { expectRefusal } from '../../testing/expect-refusal.ts'
import { signUpEarlier } from '../../testing/passing-time.ts'
import { appForTest, type TestApp, testPerNode } from '../../testing/test-app.ts'

const test = testPerNode('limits counted in memory, by each node for itself')

const publish = (app: TestApp, { token }: TestUser, key: string) =>
  app.call('POST', '/posts', {
    token,
    body: { text: 'Дважды' },
    headers: { 'idempotency-key': key },
  })

test('retries are not counted: after many of them the rest of the burst passes', async () => {
  const app = await appForTest({ config: { rateLimitScale: 1 } })
  const olga = await signUpEarlier(app)
  const first = await publish(app, olga, 'again')
  for (let retry = 0; retry < 8; retry++) {
    expect((await publish(app, olga, 'again')).body).toEqual(first.body)
  }
  for (const key of ['2', '3', '4', '5']) {
    expect((await publish(app, olga, key)).status).toBe(201)
  }
  expectRefusal(await publish(app, olga, '6'), 'TOO_MANY_REQUESTS')
})

test('a new account’s retry within its minute returns its post and costs none of its day', async () => {
  const app = await appForTest({ config: { rateLimitScale: 1 } })
  const olga = await app.signUp()
  const first = await publish(app, olga, 'again')
  for (let retry = 0; retry < 8; retry++) {
    expect((await publish(app, olga, 'again')).body).toEqual(first.body)
  }
  expectRefusal(await publish(app, olga, 'other'), 'TOO_MANY_REQUESTS')
  const { rows } = await sql<{ days: number }>`
    SELECT round(extract(epoch FROM arrival - now()) / 86400)::int AS days FROM rate_limits
    WHERE key LIKE 'newcomer-day%'`.execute(app.db)
  expect(rows).toEqual([{ days: 1 }])
})
