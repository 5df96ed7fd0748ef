import { expect, test } from 'vitest'
import { removeExpiredLimits } from '../../kernel/limits/limits.repository.ts'
import { atOnce } from '../../testing/at-once.ts'
import { browserOf } from '../../testing/client.ts'
import { expectTooMany } from '../../testing/expect-refusal.ts'
import { passLimitTime, passMailLimitTime } from '../../testing/passing-time.ts'
import { countCodes, startAt, verifyAt } from '../../testing/sign-in-calls.ts'
import { appForTest, mailAppForTest, type TestApp } from '../../testing/test-app.ts'

const MINUTE = 60
const HOUR = 3600
const EMAIL = 'olga@example.org'
const STRICT = { rateLimitScale: 1, trustProxy: ['127.0.0.1'] }

/** Requests a code for one e-mail, each time from another address and, unless told, browser. */
let number = 0
function ask(app: TestApp, clientToken = `browser ${number}`, browser = '') {
  const ip = `10.0.${number >> 8}.${number++ & 255}`
  return startAt(app, '/registrations', { email: EMAIL, clientToken, ip, browser })
}

/** Requests five codes, a minute apart: as many as are allowed at once. */
async function askFiveTimes(app: TestApp): Promise<void> {
  for (let time = 0; time < 5; time++) {
    expect((await ask(app)).status).toBe(201)
    await passMailLimitTime(app, MINUTE)
  }
}

test('one e-mail gets one code mail a minute, whoever requests it, then 429 with Retry-After', async () => {
  const { app, mailbox } = await mailAppForTest(STRICT)
  expect((await ask(app)).status).toBe(201)
  expectTooMany(await ask(app), { most: MINUTE })
  const inOtherLetters = { email: EMAIL.toUpperCase(), clientToken: 'other', ip: '192.0.2.1' }
  expectTooMany(await startAt(app, '/registrations', inOtherLetters), { most: MINUTE })

  await passMailLimitTime(app, MINUTE)
  expect((await ask(app)).status).toBe(201)
  await mailbox.mailTo(EMAIL, 2)
  expect(mailbox.mails).toHaveLength(2)
})

test('a client that has just requested a code gets the same operation again, not 429', async () => {
  const app = await appForTest({ config: STRICT })
  const first = await ask(app, 'my browser')
  const again = await ask(app, 'my browser')
  expect([again.status, again.body]).toEqual([201, first.body])
})

test('past the limit, concurrent starts are all refused, and leave no operation whose code can be guessed', async () => {
  const { app, mailbox } = await mailAppForTest(STRICT)
  expect((await ask(app)).status).toBe(201)
  const answers = await atOnce(Array.from({ length: 20 }, () => () => ask(app, 'a guesser')))
  expect(countCodes(answers)).toEqual({ TOO_MANY_REQUESTS: 20 })
  expect(await app.db.selectFrom('codes').select('id').execute()).toHaveLength(1)
  await mailbox.mailTo(EMAIL)
  expect(mailbox.mails).toHaveLength(1)
})

test('one e-mail gets six code mails an hour: five within minutes, and then one in half an hour', async () => {
  const app = await appForTest({ config: STRICT })
  await askFiveTimes(app)
  const refused = await ask(app)
  expectTooMany(refused, { least: 24 * MINUTE, most: 25 * MINUTE })
  expect(refused.body.message).toMatch(
    /^Код на эту почту уже отправляли: следующий — через 2[45]:\d\d$/,
  )
  await passMailLimitTime(app, 25 * MINUTE)
  expect((await ask(app)).status).toBe(201)
  expectTooMany(await ask(app), { most: 30 * MINUTE })
})

test('a second browser behind one address gets a code a minute after the first, and at once when that was entered', async () => {
  const app = await appForTest({ config: STRICT })
  const start = (clientToken: string) =>
    startAt(app, '/registrations', { email: EMAIL, clientToken, ip: '192.0.2.1' })
  await start('my browser')
  expectTooMany(await start('another browser'), { most: MINUTE })
  await passMailLimitTime(app, MINUTE)
  const { id } = (await start('another browser')).body
  const code = app.codeFor(id)
  const ip = '192.0.2.1'
  await verifyAt(app, '/registrations', { id, code, clientToken: 'another browser', ip })
  expect((await start('a third browser')).status).toBe(201)
})

test('strangers do not keep a new browser out in a network that has a session of the account', async () => {
  const app = await appForTest({ config: STRICT })
  const home = { 'x-forwarded-for': '192.0.2.1' }
  await app.signIn(EMAIL, 'my browser', home)
  await askFiveTimes(app)
  expectTooMany(await ask(app), { most: 30 * MINUTE })
  const phone = { email: EMAIL, clientToken: 'my phone', ip: '192.0.2.1' }
  expect((await startAt(app, '/logins', phone)).status).toBe(201)
})

test('concurrent starts for one mailbox send one mail', async () => {
  const app = await appForTest({ config: STRICT })
  const answers = await atOnce(Array.from({ length: 30 }, () => () => ask(app)))
  expect(countCodes(answers)).toEqual({ ok: 1, TOO_MANY_REQUESTS: 29 })
})

test('the counts identify nobody, and are removed a day after the last request', async () => {
  const app = await appForTest({ config: STRICT })
  const { body } = await startAt(app, '/registrations', { email: EMAIL, ip: '192.0.2.77' })
  await verifyAt(app, '/registrations', { id: body.id, code: app.codeFor(body.id) })
  // The mail is counted when it is sent.
  await app.logLine('mail sent')
  const counted = () => app.db.selectFrom('rate_limits').selectAll().execute()
  const rows = await counted()
  expect(rows.length).toBeGreaterThanOrEqual(3)
  expect(JSON.stringify(rows)).not.toMatch(/olga|192\.0\.2|127\.0\.0/)
  await passLimitTime(app, 24 * HOUR)
  await removeExpiredLimits(app.db)
  expect(await counted()).toEqual([])
})

test('the limit counts login, registration and e-mail change together', async () => {
  const app = await appForTest({ config: STRICT })
  const petr = await app.signUp()
  const body = { email: EMAIL, clientToken: petr.clientToken }
  expect((await app.call('PUT', '/users/current/email', { token: petr.token, body })).status).toBe(
    201,
  )
  expectTooMany(await ask(app), { most: MINUTE })
})

test('a client that has signed in before has a limit of its own, however many codes strangers request', async () => {
  const app = await appForTest({ config: STRICT })
  const petr = await app.signUp()
  const first = await ask(app, 'my browser')
  const { id } = first.body
  const code = app.codeFor(id)
  const mine = browserOf(
    await verifyAt(app, '/registrations', { id, code, clientToken: 'my browser' }),
  )
  await passMailLimitTime(app, 24 * HOUR)

  await askFiveTimes(app)
  expectTooMany(await ask(app), { most: 30 * MINUTE })
  for (let time = 0; time < 5; time++) {
    expect((await ask(app, 'my browser', mine)).status).toBe(201)
    await passMailLimitTime(app, 4 * MINUTE)
  }
  expectTooMany(await ask(app, 'my browser', mine), { least: 9 * MINUTE, most: 10 * MINUTE })
  expect((await startAt(app, '/logins', petr)).status).toBe(201)
})

test('that limit is only for the e-mail the client has signed in with', async () => {
  const app = await appForTest({ config: STRICT })
  const { browser } = await app.signIn('petr@example.org', 'petr’s browser')
  await ask(app)
  expectTooMany(await ask(app, 'petr’s browser', browser), { most: MINUTE })
})

const SPELLINGS = [
  (n: number) => `olga+${n}@example.org`,
  (n: number) => `OLGA+wall${n}@example.org.`,
  (n: number) => `ｏlga+${n}@ｅxample.org`,
]

test('one mailbox, however spelt, gets a code mail a minute and five at once, requested from twenty addresses', async () => {
  const { app, mailbox } = await mailAppForTest(STRICT)
  for (let minute = 0; minute < 8; minute++) {
    const asks = Array.from({ length: 20 }, (_, n) => () => {
      const email = SPELLINGS[n % 3]?.(minute * 20 + n) ?? ''
      const ip = `198.51.100.${n}`
      return startAt(app, '/registrations', { email, ip, clientToken: `${minute}/${n}` })
    })
    const { ok = 0 } = countCodes(await atOnce(asks))
    expect(ok).toBe(minute < 5 ? 1 : 0)
    await passMailLimitTime(app, MINUTE)
  }
  await app.logLine('mail sent', 5)
  expect(mailbox.mails).toHaveLength(5)
})

test('addresses that differ in dots are one mailbox at Gmail, and several elsewhere', async () => {
  const app = await appForTest({ config: STRICT })
  let asked = 0
  const at = (email: string) =>
    startAt(app, '/registrations', { email, ip: `10.1.0.${asked++}`, clientToken: email })
  expect((await at('o.l.ga@gmail.com')).status).toBe(201)
  expectTooMany(await at('ol.ga+1@googlemail.com'), { most: MINUTE })
  expect((await at('o.l.ga@example.org')).status).toBe(201)
  expect((await at('ol.ga@example.org')).status).toBe(201)
})
