import { expect, test } from 'vitest'
import { newEmail } from '../../testing/calls/account-fixture.ts'
import { startAt, verifyAt, wrongCode } from '../../testing/calls/sign-in-calls.ts'
import { passCodeTime } from '../../testing/database/passing-time.ts'
import { browserOf } from '../../testing/http/client.ts'
import { expectRefusal } from '../../testing/http/expect-refusal.ts'
import { appForTest, strictApp, type TestApp } from '../../testing/test-app.ts'

const CHARGED = ['code-request', 'code-mail', 'wrong-code']
const REFUNDED = [...CHARGED, 'known-wrong-code']
const MINUTE = 60

type Count = { key: string; arrival: string }

/** Returns the counts of the limits that a right code refunds, by default those that are still charged. */
function countsOf(app: TestApp, { isFree = [false] } = {}): Promise<Count[]> {
  return app.sql<Count>`SELECT key, arrival::text FROM rate_limits
    WHERE split_part(key, '/', 1) = ANY(${REFUNDED}) AND (arrival <= now()) = ANY(${isFree})`
}

const ALL = { isFree: [true, false] }
const namesOf = (counts: Count[]) => new Set(counts.map(({ key }) => key.split('/')[0]))

/** The mail of the last code was a minute ago. */
async function mayMailAgain(app: TestApp): Promise<void> {
  await passCodeTime(app, MINUTE)
  await app.sql`DELETE FROM rate_limits WHERE key LIKE 'code-mail/60 %'`
}

async function startLogin(app: TestApp, email: string, ip: string, browser = '') {
  const clientToken = 'a new browser'
  const started = await startAt(app, '/logins', { email, clientToken, ip, browser })
  expect(started.status).toBe(201)
  const { id } = started.body as { id: string }
  return { id, ip, clientToken, browser: browser || browserOf(started) }
}

test('a right code refunds exactly what its operation was charged, from whatever network it comes, also if the limits have changed since', async () => {
  const app = await strictApp()
  const { email } = await app.signUp()
  const [ip, other] = ['2001:db8:1:2::1', '2001:db9:1:2::1']
  const login = await startLogin(app, email, ip)
  await mayMailAgain(app)
  expect((await startLogin(app, email, ip, login.browser)).id).toBe(login.id)
  const code = wrongCode(app.codeFor(login.id))
  for (let n = 0; n < 3; n++) {
    expectRefusal(await verifyAt(app, '/logins', { ...login, code }), 'INVALID_CONFIRM_CODE')
  }
  const charged = await countsOf(app)
  expect(namesOf(charged)).toEqual(new Set(CHARGED))

  // The code is entered beside neighbours who have asked for one.
  await startLogin(app, (await app.signUp()).email, other)
  const isOwn = ({ key }: Count) => charged.some((count) => count.key === key)
  const ofOthers = (await countsOf(app)).filter((count) => !isOwn(count))
  const { databaseUrl } = app
  const config = { rateLimitScale: 3, trustProxy: ['127.0.0.1'] }
  const changed = await appForTest({ databaseUrl, config })
  expect((await verifyAt(changed, '/logins', { ...login, ip: other })).status).toBe(200)
  expect(await countsOf(app, ALL)).toEqual(expect.arrayContaining(ofOthers))
  expect((await countsOf(app)).filter(isOwn)).toEqual([])
})

test('a right code refunds the mails to a browser in a network that the account did not know yet, and those since', async () => {
  const app = await strictApp()
  const { email } = await app.signUp()
  const ip = '192.0.2.1'
  const login = await startLogin(app, email, ip)
  await mayMailAgain(app)
  // The owner signs in beside it, so that the account knows the network.
  await app.signIn(email, 'the browser of the owner', { 'x-forwarded-for': ip })
  await mayMailAgain(app)
  expect((await startLogin(app, email, ip, login.browser)).id).toBe(login.id)
  expect(await app.sql`SELECT known_by FROM codes`).toEqual([{ known_by: 'network' }])
  expect(namesOf(await countsOf(app))).toEqual(new Set(['code-request', 'code-mail']))
  expect((await verifyAt(app, '/logins', login)).status).toBe(200)
  expect(await countsOf(app)).toEqual([])
})

test('the code of a node of the release before, which stores no charges, is right and refunds nothing', async () => {
  const app = await strictApp()
  const login = await startLogin(app, (await app.signUp()).email, '192.0.2.1')
  await app.sql`UPDATE codes SET charges = DEFAULT, mails = 1`
  const before = await countsOf(app)
  expect((await verifyAt(app, '/logins', login)).status).toBe(200)
  expect(await countsOf(app, ALL)).toEqual(expect.arrayContaining(before))
})

test('the charges of a code are stored as keyed hashes', async () => {
  const app = await strictApp()
  const email = newEmail()
  const ip = '2001:db8:1:2::1'
  const { id } = (await startAt(app, '/registrations', { email, ip })).body
  const code = wrongCode(app.codeFor(id))
  const refused = await verifyAt(app, '/registrations', { id, code, ip })
  expectRefusal(refused, 'INVALID_CONFIRM_CODE')
  const rows = await app.sql<{ key: string }>`
    SELECT charge->>'key' AS key FROM codes, jsonb_array_elements(charges) AS charge`
  const names = new Set(rows.map(({ key }) => key.match(/^([a-z-]+)\/\d+ [\w-]{43}$/)?.[1]))
  expect(names).toEqual(new Set(CHARGED))
})
