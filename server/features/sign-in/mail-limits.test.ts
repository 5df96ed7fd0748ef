import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { newEmail } from '../../testing/account-fixture.ts'
import { atOnce } from '../../testing/at-once.ts'
import { browserOf } from '../../testing/client.ts'
import { startChange } from '../../testing/email-change-calls.ts'
import { expectTooMany } from '../../testing/expect-refusal.ts'
import { passMailLimitTime } from '../../testing/passing-time.ts'
import { countCodes, startAt, verifyAt } from '../../testing/sign-in-calls.ts'
import { mailAppForFile } from '../../testing/test-app.ts'

const MINUTE = 60
const HOUR = 3600

const { app, mailbox } = await mailAppForFile({ rateLimitScale: 1, trustProxy: ['127.0.0.1'] })

let number = 0
const newIp = () => `10.0.${number >> 8}.${number++ & 255}`

/** Requests a code, each time from another address and, unless told, browser. */
function ask(email: string, clientToken = `browser ${number}`, browser = '') {
  return startAt(app, '/registrations', { email, clientToken, ip: newIp(), browser })
}

const signIn = (email: string, ip = newIp()) =>
  app.signIn(email, randomUUID(), { 'x-forwarded-for': ip })

/** Requests five codes, a minute apart: as many as are allowed at once. */
async function askFiveTimes(email: string): Promise<void> {
  for (let time = 0; time < 5; time++) {
    expect((await ask(email)).status).toBe(201)
    await passMailLimitTime(app, MINUTE)
  }
}

test('past the limit, concurrent starts are all refused, and leave no operation whose code can be guessed', async () => {
  const email = newEmail()
  expect((await ask(email)).status).toBe(201)
  const answers = await atOnce(Array.from({ length: 10 }, () => () => ask(email, 'a guesser')))
  expect(countCodes(answers)).toEqual({ TOO_MANY_REQUESTS: 10 })
  const stored = app.db.selectFrom('codes').select('id').where('email', '=', email)
  expect(await stored.execute()).toHaveLength(1)
})

test('one e-mail gets six code mails an hour: five within minutes, and then one in half an hour', async () => {
  const email = newEmail()
  await askFiveTimes(email)
  const refused = await ask(email)
  expectTooMany(refused, { least: 24 * MINUTE, most: 25 * MINUTE })
  expect(refused.body.message).toMatch(
    /^Код на эту почту уже отправляли: следующий — через 2[45]:\d\d$/,
  )
  await passMailLimitTime(app, 25 * MINUTE)
  expect((await ask(email)).status).toBe(201)
  expectTooMany(await ask(email), { most: 30 * MINUTE })
})

test('strangers do not keep a new browser out in a network that has a session of the account', async () => {
  const [email, ip] = [newEmail(), newIp()]
  await signIn(email, ip)
  await askFiveTimes(email)
  expectTooMany(await ask(email), { most: 30 * MINUTE })
  const phone = { email, clientToken: 'my phone', ip }
  expect((await startAt(app, '/logins', phone)).status).toBe(201)
})

test('the limit counts login, registration and e-mail change together', async () => {
  const email = newEmail()
  expect((await startChange(app, await signIn(newEmail()), email)).status).toBe(201)
  expectTooMany(await ask(email), { most: MINUTE })
})

test('a client that has signed in before has a limit of its own for that e-mail, however many codes strangers request', async () => {
  const email = newEmail()
  const { id } = (await ask(email, 'my browser')).body
  const guess = { id, clientToken: 'my browser' }
  const mine = browserOf(await verifyAt(app, '/registrations', guess))
  await passMailLimitTime(app, 24 * HOUR)

  await askFiveTimes(email)
  expectTooMany(await ask(email), { most: 30 * MINUTE })
  for (let time = 0; time < 5; time++) {
    expect((await ask(email, 'my browser', mine)).status).toBe(201)
    await passMailLimitTime(app, 4 * MINUTE)
  }
  expectTooMany(await ask(email, 'my browser', mine), { least: 9 * MINUTE, most: 10 * MINUTE })
  const other = newEmail()
  await ask(other)
  expectTooMany(await ask(other, 'my browser', mine), { most: MINUTE })
})

const SPELLINGS = [
  (n: number) => `olga+${n}@example.org`,
  (n: number) => `OLGA+wall${n}@example.org.`,
  (n: number) => `ｏlga+${n}@ｅxample.org`,
]

test('one mailbox, however spelt, gets a code mail a minute and five at once, requested from twenty addresses', async () => {
  for (let minute = 0; minute < 6; minute++) {
    const asks = Array.from({ length: 20 }, (_, n) => () => {
      const email = SPELLINGS[n % 3]?.(minute * 20 + n) ?? ''
      return ask(email, `${minute}/${n}`)
    })
    const { ok = 0 } = countCodes(await atOnce(asks))
    expect(ok).toBe(minute < 5 ? 1 : 0)
    await passMailLimitTime(app, MINUTE)
  }
  await expect.poll(() => mailbox.mails.filter(({ to }) => to.includes('+')).length).toBe(5)
})
