import { sql } from 'kysely'
import { expect, test } from 'vitest'
import type { TestUser } from '../../testing/client.ts'
import { expectRefusal, expectTooMany } from '../../testing/expect-refusal.ts'
import { signUpEarlier, stopClock } from '../../testing/passing-time.ts'
import { appForTest, type TestApp, testPerNode } from '../../testing/test-app.ts'

const perNode = testPerNode('limits counted in memory, by each node for itself')
const STRICT = { config: { rateLimitScale: 1 } }

const publish = (app: TestApp, { token }: TestUser, key: string, path = '/posts') =>
  app.call('POST', path, {
    token,
    body: { text: 'Ещё одна' },
    headers: { 'idempotency-key': key },
  })

perNode('retries are not counted: after many of them the rest of the burst passes', async () => {
  stopClock()
  const app = await appForTest(STRICT)
  for (const user of [await signUpEarlier(app), await app.signUp()]) {
    const first = await publish(app, user, 'again')
    for (let retry = 0; retry < 8; retry++) {
      expect((await publish(app, user, 'again')).body).toEqual(first.body)
    }
    for (const key of ['2', '3', '4', '5']) {
      expect((await publish(app, user, key)).status).toBe(201)
    }
    expectRefusal(await publish(app, user, '6'), 'TOO_MANY_REQUESTS')
  }
  const { rows } = await sql<{ days: number }>`
    SELECT round(extract(epoch FROM arrival - now()) / 86400)::int AS days FROM rate_limits
    WHERE key LIKE 'newcomer-day%'`.execute(app.db)
  expect(rows).toEqual([{ days: 5 }])
})

perNode(
  'an account that is less than a day old publishes five at once and then one in 30 s; the refusal explains that',
  async () => {
    const app = await appForTest(STRICT)
    const olga = await app.signUp()
    for (let post = 1; post <= 5; post++) {
      expect((await publish(app, olga, `${post}`)).status).toBe(201)
    }
    const sixth = await publish(app, olga, '6')
    expectTooMany(sixth, { least: 20, most: 30 })
    expect(sixth.body.message).toMatch(
      /^В первые сутки записи публикуются реже: следующая — через 0:(2\d|30)$/,
    )
  },
)

test('an account that is less than a day old publishes 40 posts and replies on its first day', async () => {
  // Ten times as many, so that the limit of 30 s lets all of these pass.
  const app = await appForTest({ config: { rateLimitScale: 10 } })
  const [olga, vera] = [await app.signUp(), await signUpEarlier(app)]
  const first = await publish(app, olga, '1')
  const replies = `/posts/${first.body.id}/replies`
  await sql`UPDATE rate_limits SET arrival = arrival + 398 * interval '1 day' / 10
    WHERE key LIKE 'newcomer-day/%'`.execute(app.db)
  expect((await publish(app, olga, '2', replies)).status).toBe(201)
  for (const path of ['/posts', replies]) {
    const refused = await publish(app, olga, path, path)
    expectRefusal(refused, 'TOO_MANY_REQUESTS')
    expect(refused.body.message).toMatch(/следующая запись — через \d ч/)
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(3600)
  }
  expect((await publish(app, vera, '1')).status).toBe(201)
  await sql`UPDATE users SET created_at = now() - interval '23 hours' WHERE id = ${olga.id}`.execute(
    app.db,
  )
  expectTooMany(await publish(app, olga, '3'), { least: 3500, most: 3600 })
})

perNode('a post that could not be stored uses up nothing', async () => {
  const app = await appForTest(STRICT)
  const olga = await app.signUp()
  await sql`ALTER TABLE posts ADD CONSTRAINT none CHECK (false) NOT VALID`.execute(app.db)
  for (let post = 1; post <= 5; post++) {
    expect((await publish(app, olga, `${post}`)).status).toBe(500)
  }
  await sql`ALTER TABLE posts DROP CONSTRAINT none`.execute(app.db)
  for (let post = 1; post <= 5; post++) {
    expect((await publish(app, olga, `${post}`)).status).toBe(201)
  }
})
