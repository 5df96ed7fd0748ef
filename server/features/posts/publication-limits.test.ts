import { sql } from 'kysely'
import { afterAll, expect, test, vi } from 'vitest'
import type { TestUser } from '../../testing/client.ts'
import { expectRefusal, expectTooMany } from '../../testing/expect-refusal.ts'
import { signUpEarlier } from '../../testing/passing-time.ts'
import { appForFile, appForTest, testPerNode } from '../../testing/test-app.ts'

const perNode = testPerNode('limits counted in memory, by each node for itself')
// No limit in memory earns anything back.
vi.useFakeTimers({ toFake: ['performance'] })
afterAll(() => void vi.useRealTimers())
const strict = await appForFile({ config: { rateLimitScale: 1 } })

const publish = ({ token }: TestUser, key: string, path = '/posts', app = strict) =>
  app.call('POST', path, {
    token,
    body: { text: 'Ещё одна' },
    headers: { 'idempotency-key': key },
  })

perNode('retries are not counted: after many of them the rest of the burst passes', async () => {
  for (const user of [await signUpEarlier(strict), await strict.signUp()]) {
    const first = await publish(user, 'again')
    for (let retry = 0; retry < 8; retry++) {
      expect((await publish(user, 'again')).body).toEqual(first.body)
    }
    for (const key of ['2', '3', '4', '5']) {
      expect((await publish(user, key)).status).toBe(201)
    }
    expectRefusal(await publish(user, '6'), 'TOO_MANY_REQUESTS')
  }
  const { rows } = await sql<{ days: number }>`
    SELECT round(extract(epoch FROM arrival - now()) / 86400)::int AS days FROM rate_limits
    WHERE key LIKE 'newcomer-day%'`.execute(strict.db)
  expect(rows).toEqual([{ days: 5 }])
})

perNode(
  'an account that is less than a day old publishes five at once and then one in 30 s; the refusal explains that',
  async () => {
    const olga = await strict.signUp()
    for (let post = 1; post <= 5; post++) {
      expect((await publish(olga, `${post}`)).status).toBe(201)
    }
    const sixth = await publish(olga, '6')
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
  const first = await publish(olga, '1', '/posts', app)
  const replies = `/posts/${first.body.id}/replies`
  await sql`UPDATE rate_limits SET arrival = arrival + 398 * interval '1 day' / 10
    WHERE key LIKE 'newcomer-day/%'`.execute(app.db)
  expect((await publish(olga, '2', replies, app)).status).toBe(201)
  for (const path of ['/posts', replies]) {
    const refused = await publish(olga, path, path, app)
    expectRefusal(refused, 'TOO_MANY_REQUESTS')
    expect(refused.body.message).toMatch(/следующая запись — через \d ч/)
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(3600)
  }
  expect((await publish(vera, '1', '/posts', app)).status).toBe(201)
  await sql`UPDATE users SET created_at = now() - interval '23 hours' WHERE id = ${olga.id}`.execute(
    app.db,
  )
  expectTooMany(await publish(olga, '3', '/posts', app), { least: 3500, most: 3600 })
})

perNode('a post that could not be stored uses up nothing', async () => {
  const olga = await strict.signUp()
  await sql`ALTER TABLE posts ADD CONSTRAINT none CHECK (false) NOT VALID`.execute(strict.db)
  for (let post = 1; post <= 5; post++) {
    expect((await publish(olga, `${post}`)).status).toBe(500)
  }
  await sql`ALTER TABLE posts DROP CONSTRAINT none`.execute(strict.db)
  for (let post = 1; post <= 5; post++) {
    expect((await publish(olga, `${post}`)).status).toBe(201)
  }
})
