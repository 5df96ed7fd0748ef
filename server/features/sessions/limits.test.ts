import { randomUUID } from 'node:crypto'
import { expect } from 'vitest'
import { clientHeaders, countCodes } from '../../testing/calls/sign-in-calls.ts'
import { stopClock } from '../../testing/database/passing-time.ts'
import { atOnce } from '../../testing/http/at-once.ts'
import { expectTooMany } from '../../testing/http/expect-refusal.ts'
import { appForTest, TEST_SITE, type TestApp, testPerNode } from '../../testing/test-app.ts'
import { cookieOf, formatSessionCookie, randomSecret } from './cookie.ts'
import { type Client, refresh as refreshFrom } from './sessions.fixture.ts'

const test = testPerNode('limits counted in memory, by each node for itself')

const STRICT = { rateLimitScale: 1, trustProxy: ['127.0.0.1'] }
const NAME = cookieOf('session', TEST_SITE).name
const OFFICE = '192.0.2.1'

function refresh(app: TestApp, client: Client, ip = OFFICE) {
  return refreshFrom(app, client, clientHeaders(ip).headers)
}

/** The cookie of a session that never existed. */
function junk(): Client {
  const cookie = `${NAME}=${formatSessionCookie({ id: randomUUID(), secret: randomSecret() })}`
  return { cookie, clientToken: 'one browser' }
}

test('a session may refresh 150 times in 5 minutes, then gets 429 with Retry-After; another session of its network is not affected', async () => {
  const { databaseUrl, signUp } = await appForTest()
  const [olga, petr] = [await signUp(), await signUp()]
  stopClock()
  // A tenth: fifteen, and then one in 20 s.
  const app = await appForTest({ databaseUrl, config: { ...STRICT, rateLimitScale: 0.1 } })
  const answers = []
  for (let time = 0; time < 15; time++) answers.push(await refresh(app, olga))
  expect(countCodes(answers)).toEqual({ ok: 15 })
  expectTooMany(await refresh(app, olga), { most: 20 })
  expectTooMany(await refresh(app, olga, '192.0.2.2'), { most: 20 })
  expect((await refresh(app, petr)).status).toBe(200)
})

test('refreshes with invalid cookies are limited to 600 in 5 minutes for a network, and neither they nor other calls keep its sessions from refreshing', async () => {
  stopClock()
  // A thirtieth: twenty, and then one in 15 s; of other calls a hundred.
  const app = await appForTest({ config: { ...STRICT, rateLimitScale: 1 / 30 } })
  const olga = await app.signUp()
  const noise = { ...junk(), cookie: `${NAME}=noise` }
  const answers = await atOnce(
    Array.from({ length: 30 }, (_, n) => () => refresh(app, n % 2 ? junk() : noise)),
  )
  expect(countCodes(answers)).toEqual({ UNAUTHORIZED: 20, TOO_MANY_REQUESTS: 10 })
  while ((await app.call('GET', '/posts', clientHeaders(OFFICE))).status === 200);
  expect((await refresh(app, olga)).status).toBe(200)
  expect((await refresh(app, junk(), '192.0.2.2')).status).toBe(401)
})
