import { expect, test } from 'vitest'
import { removeExpiredLimits } from '../../kernel/limits/gcra.repository.ts'
import { atOnce } from '../../testing/at-once.ts'
import type { TestAnswer } from '../../testing/client.ts'
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
function ask(app: TestApp, clientToken = `browser ${number}`) {
  const ip = `10.0.${number >> 8}.${number++ & 255}`
  return startAt(app, '/registrations', { email: EMAIL, clientToken, ip })
}

/** Requests three codes, a minute apart: as many as are allowed at once. */
async function askThrice(app: TestApp): Promise<void> {
  for (let time = 0; time < 3; time++) {
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

test('past the limit, concurrent starts return no operation whose code can be guessed', async () => {
  const { app, mailbox } = await mailAppForTest(STRICT)
  expect((await ask(app)).status).toBe(201)
  const clientToken = 'a guesser'
  const guesses: TestAnswer[] = []
  for (let round = 0; round < 10; round++) {
    const starts = await Promise.all(Array.from({ length: 5 }, () => ask(app, clientToken)))
    const [id] = starts.flatMap(({ status, body }) => (status === 201 ? [body.id] : []))
    if (!id) continue
    const ip = `192.0.2.${round}`
    const code = app.codeFor(id)
    guesses.push(await verifyAt(app, '/registrations', { id, code, clientToken, ip }))
  }
  expect(guesses.length).toBeGreaterThan(0)
  expect(countCodes(guesses)).toEqual({ OPERATION_EXPIRED: guesses.length })
  expect(mailbox.mails).toHaveLength(1)
})

test('one e-mail gets 3 code mails an hour: three within minutes, and then one in 20 minutes', async () => {
  const app = await appForTest({ config: STRICT })
  await askThrice(app)
  expectTooMany(await ask(app), { least: 16 * MINUTE, most: 17 * MINUTE })
  await passMailLimitTime(app, 17 * MINUTE)
  expect((await ask(app)).status).toBe(201)
  expectTooMany(await ask(app), { most: 20 * MINUTE })
})

test('one network gets one code an hour for an e-mail, which is mailed again after a minute', async () => {
  const { app, mailbox } = await mailAppForTest(STRICT)
  const start = (clientToken: string) =>
    startAt(app, '/registrations', { email: EMAIL, clientToken, ip: '192.0.2.1' })
  const first = await start('my browser')
  // Until it is stored that the mail was sent, it counts as waiting, and no other one is queued.
  const states = () => app.db.selectFrom('outbox').select('state').execute()
  await expect.poll(states).toEqual([{ state: 'sent' }])
  await passMailLimitTime(app, MINUTE)
  expectTooMany(await start('another browser'), { least: 55 * MINUTE, most: 59 * MINUTE })
  expect((await start('my browser')).body).toEqual(first.body)
  await mailbox.mailTo(EMAIL, 2)
  await passMailLimitTime(app, 59 * MINUTE)
  expect((await start('another browser')).status).toBe(201)
})

// What strangers can do in days is tried without the server: codes/code-quota.test.ts.
test('strangers who were mailed before leave a mail in each hour to a newcomer', async () => {
  const app = await appForTest({ config: STRICT })
  const asks = async () => {
    const statuses: number[] = []
    for (let n = 0; n < 3; n++) {
      const stranger = { email: EMAIL, clientToken: `${number++}`, ip: `10.1.0.${n}` }
      statuses.push((await startAt(app, '/registrations', stranger)).status)
      await passMailLimitTime(app, MINUTE)
    }
    return statuses
  }
  expect(await asks()).toEqual([201, 201, 201])
  await passMailLimitTime(app, HOUR)
  expect(await asks()).toEqual([201, 201, 429])
  expect((await ask(app)).status).toBe(201)
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

test('a refused mail does not delay the next one', async () => {
  const { app, mailbox } = await mailAppForTest(STRICT)
  await ask(app, 'a stranger')
  await mailbox.mailTo(EMAIL)
  expectTooMany(await ask(app, 'my browser'), { most: MINUTE })
  await passLimitTime(app, MINUTE)
  const { status, body } = await ask(app, 'my browser')
  expect(status).toBe(201)
  expect(await mailbox.codeFor(EMAIL, 2)).toBe(app.codeFor(body.id))
})

test('a client that has signed in before has a limit of its own, however many codes strangers request', async () => {
  const app = await appForTest({ config: STRICT })
  const petr = await app.signUp()
  const first = await ask(app, 'my browser')
  const { id } = first.body
  await verifyAt(app, '/registrations', { id, code: app.codeFor(id), clientToken: 'my browser' })
  await passMailLimitTime(app, 24 * HOUR)

  await askThrice(app)
  expectTooMany(await ask(app), { most: 20 * MINUTE })
  for (let time = 0; time < 3; time++) {
    expect((await ask(app, 'my browser')).status).toBe(201)
    await passMailLimitTime(app, 4 * MINUTE)
  }
  expectTooMany(await ask(app, 'my browser'), { least: 7 * MINUTE, most: 8 * MINUTE })
  expect((await startAt(app, '/logins', petr)).status).toBe(201)
})

test('that limit is only for the e-mail the client has signed in with', async () => {
  const app = await appForTest({ config: STRICT })
  await app.signIn('petr@example.org', 'petr’s browser')
  await ask(app)
  expectTooMany(await ask(app, 'petr’s browser'), { most: MINUTE })
})
