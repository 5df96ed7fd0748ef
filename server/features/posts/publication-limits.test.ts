import { afterAll, expect, test, vi } from 'vitest'
import { forgetCodes, passLimitTime, signUpEarlier } from '../../testing/database/passing-time.ts'
import type { TestAnswer, TestUser } from '../../testing/http/client.ts'
import { expectRefusal, expectTooMany } from '../../testing/http/expect-refusal.ts'
import {
  appForFile,
  appForTest,
  strictApp,
  type TestApp,
  testPerNode,
} from '../../testing/test-app.ts'

const perNode = testPerNode('limits counted in memory, by each node for itself')
// No limit in memory earns anything back.
vi.useFakeTimers({ toFake: ['performance'] })
afterAll(() => void vi.useRealTimers())
const strict = await appForFile({ config: { rateLimitScale: 1 } })

type Sent = { path?: string; text?: string; app?: TestApp }

const publish = (
  { token }: TestUser,
  key: string | number,
  { path = '/posts', text = 'Ещё одна', app = strict }: Sent = {},
) => {
  const headers = { 'idempotency-key': String(key) }
  return app.call('POST', path, { token, body: { text }, headers })
}

/** Publishes five posts, which all get this status. */
async function publishFive(user: TestUser, status = 201): Promise<void> {
  for (let key = 1; key <= 5; key++) expect((await publish(user, key)).status).toBe(status)
}

perNode(
  'five posts and replies are published at once, retries and refused texts are not counted, and the refusal says when the next may come: for an account that is less than a day old after 30 s',
  async () => {
    for (const [user, wait, why] of [
      [await signUpEarlier(strict), { most: 5 }, /^Записи нельзя публиковать так часто: /],
      [
        await strict.signUp(),
        { least: 20, most: 30 },
        /^В первые сутки записи публикуются реже: следующая — через 0:(2\d|30)$/,
      ],
    ] as const) {
      const first = await publish(user, 1)
      for (let retry = 0; retry < 8; retry++) {
        expect((await publish(user, 1)).body).toEqual(first.body)
        expectRefusal(await publish(user, `empty-${retry}`, { text: '\u0301' }), 'INVALID_REQUEST')
      }
      await publishFive(user)
      for (const path of ['/posts', `/posts/${first.body.id}/replies`]) {
        const sixth = await publish(user, path, { path })
        expectTooMany(sixth, wait)
        expect(sixth.body.message).toMatch(why)
      }
      expect((await publish(user, 1)).body).toEqual(first.body)
    }
    const days = await strict.sql`
      SELECT round(extract(epoch FROM arrival - now()) / 86400)::int AS days FROM rate_limits
      WHERE key LIKE 'newcomer-day%'`
    expect(days).toEqual([{ days: 5 }])
  },
)

test('a mailbox publishes 40 posts and replies in the first day of its accounts', async () => {
  // Ten times as many, so that the limit of 30 s lets all of these pass.
  const app = await appForTest({ config: { rateLimitScale: 10 } })
  const [olga, vera] = [await app.signUp(), await signUpEarlier(app)]
  const olgasSecond = await app.signIn(olga.email.replace('@', '+2@'))
  const first = await publish(olga, 1, { app })
  const replies = `/posts/${first.body.id}/replies`
  await app.sql`UPDATE rate_limits SET arrival = arrival + 398 * interval '1 day' / 10
    WHERE key LIKE 'newcomer-day/%'`
  expect((await publish(olga, 2, { path: replies, app })).status).toBe(201)
  for (const path of ['/posts', replies]) {
    const refused = await publish(olga, path, { path, app })
    expectRefusal(refused, 'TOO_MANY_REQUESTS')
    expect(refused.body.message).toMatch(/следующая запись — через \d ч/)
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(3600)
  }
  expectRefusal(await publish(olgasSecond, 1, { app }), 'TOO_MANY_REQUESTS')
  expect((await publish(vera, 1, { app })).status).toBe(201)
  await app.sql`UPDATE users SET created_at = now() - interval '23 hours' WHERE id = ${olga.id}`
  expectTooMany(await publish(olga, 3, { app }), { least: 3500, most: 3600 })
})

perNode('a post that could not be stored uses up nothing', async () => {
  const olga = await strict.signUp()
  await strict.sql`ALTER TABLE posts ADD CONSTRAINT none CHECK (false) NOT VALID`
  await publishFive(olga, 500)
  await strict.sql`ALTER TABLE posts DROP CONSTRAINT none`
  await publishFive(olga)
})

test('a session that another node has closed publishes nothing more, and its retries get nothing', async () => {
  const olga = await signUpEarlier(strict)
  expect((await publish(olga, 'before')).status).toBe(201)
  const other = await appForTest({ databaseUrl: strict.databaseUrl })
  await other.call('DELETE', '/sessions/current', { token: olga.token })
  for (const key of ['before', 'after']) expectRefusal(await publish(olga, key), 'UNAUTHORIZED')
  // Also where the text would be refused.
  expectRefusal(await publish(olga, 'invalid', { text: '' }), 'UNAUTHORIZED')
  expect((await strict.read(`/posts?userId=${olga.id}`)).total).toBe(1)
})

/** Registers a person of a domain in a network, and publishes five times. Returns the statuses. */
async function publishAsNewcomer(
  app: TestApp,
  who: { email: string; ip: string },
  path = '/posts',
) {
  const headers = { 'x-forwarded-for': who.ip }
  const { token } = await app.signIn(who.email, undefined, headers)
  const sent = { token, headers, body: { text: 'Реклама' } }
  return Promise.all(Array.from({ length: 5 }, () => app.call('POST', path, sent)))
}

test.each<[string, (n: number) => { email: string; ip: string }, RegExp]>([
  [
    'network, under many domains',
    (n) => ({ email: `olga@own-${n}.example`, ip: '192.0.2.1' }),
    /^Новые авторы из вашей сети опубликовали много записей: следующая — через [345]:\d\d$/,
  ],
  [
    'domain and its subdomains, from many networks',
    (n) => ({ email: `olga-${n}@box-${n % 3}.own.example`, ip: `192.0.2.${n}` }),
    /^Новые авторы с почтой вашего домена опубликовали много записей: следующая — через [345]:\d\d$/,
  ],
])(
  'newcomers of one %s publish 30 posts together, and then one in five minutes, besides 300 replies; others are not limited by them',
  async (_which, personOf, why) => {
    const app = await strictApp()
    const known = await signUpEarlier(app)
    const first = await app.publish(known)
    const replies = `/posts/${first.id}/replies`
    const answers = []
    for (let n = 0; n < 8; n++) answers.push(...(await publishAsNewcomer(app, personOf(n))))
    const refused = answers.filter(({ status }) => status !== 201)
    expect(refused).toHaveLength(10)
    for (const answer of refused) {
      expectTooMany(answer, { least: 180, most: 300 })
      expect(answer.body.message).toMatch(why)
    }
    for (const { status } of await publishAsNewcomer(app, personOf(8), replies)) {
      expect(status).toBe(201)
    }
    const other = { email: 'olga@gmail.com', ip: '198.51.100.1' }
    for (const { status } of await publishAsNewcomer(app, other)) expect(status).toBe(201)
    await passLimitTime(app, 300)
    const later = await publishAsNewcomer(app, personOf(9))
    expect(later.map(({ status }) => status).sort()).toEqual([201, 429, 429, 429, 429])
    // Replies are counted apart.
    await app.sql`UPDATE rate_limits SET arrival = now() + 300 * interval '30 seconds'
      WHERE key LIKE 'newcomer-%-reply/%'`
    const [reply] = await publishAsNewcomer(app, personOf(10), replies)
    expectTooMany(reply as TestAnswer, { most: 30 })
    expect(reply?.body.message).toMatch(/опубликовали много ответов: следующий — через 0:\d\d$/)
    // Accounts that are older than a day are not limited.
    await app.sql`UPDATE users SET created_at = created_at - interval '1 day'`
    vi.advanceTimersByTime(25_000)
    const { email, ip } = personOf(0)
    const old = await publishAsNewcomer(app, { email, ip }, replies)
    expect(old.map(({ status }) => status)).not.toContain(429)
  },
)

test('one address and one domain publish 42 posts in their first hour, and 12 in each later hour', async () => {
  const app = await strictApp()
  const ip = '192.0.2.1'
  const people: TestUser[] = []
  const headers = { 'x-forwarded-for': ip }
  for (let n = 0; n < 40; n++) {
    people.push(await app.signIn(`olga-${n}@own.example`, undefined, headers))
    await forgetCodes(app)
  }
  /** Two try in every five minutes. Returns how many posts came. */
  async function publishForAnHour(): Promise<number> {
    let published = 0
    for (let minute = 0; minute < 60; minute += 5) {
      const many = minute === 0 ? people : people.slice(0, 2)
      for (const { token } of many) {
        const sent = { token, headers, body: { text: 'Реклама' } }
        if ((await app.call('POST', '/posts', sent)).status === 201) published++
      }
      people.push(...people.splice(0, 2))
      vi.advanceTimersByTime(300_000)
      await passLimitTime(app, 300)
    }
    return published
  }
  expect(await publishForAnHour()).toBeLessThanOrEqual(42)
  expect(await publishForAnHour()).toBeLessThanOrEqual(13)
})
