import { expect, test } from 'vitest'
import { newEmail } from '../../testing/calls/account-fixture.ts'
import { startChange } from '../../testing/calls/email-change-calls.ts'
import { countCodes, startAt, verifyAt, wrongCode } from '../../testing/calls/sign-in-calls.ts'
import {
  forgetCodes,
  inNoTime,
  passLimitTime,
  passMailLimitTime,
} from '../../testing/database/passing-time.ts'
import { atOnce } from '../../testing/http/at-once.ts'
import { browserOf, type TestAnswer, type TestUser } from '../../testing/http/client.ts'
import { expectRefusal, expectTooMany } from '../../testing/http/expect-refusal.ts'
import { mailAppForFile, mailAppForTest, strictApp, type TestApp } from '../../testing/test-app.ts'
import { closeSite, openSite } from '../site-state/site-state.service.ts'

const MINUTE = 60
const HOUR = 3600

const { app, mailbox } = await mailAppForFile({ rateLimitScale: 1, trustProxy: ['127.0.0.1'] })

let number = 0
const newIp = () => `10.0.${number >> 8}.${number++ & 255}`

/** Requests a code, each time from another address and, unless told, browser. */
function askFor(email: string, clientToken = `browser ${number}`, browser = '') {
  return startAt(app, '/registrations', { email, clientToken, ip: newIp(), browser })
}

/** Requests five codes, a minute apart: as many as are allowed at once. */
async function askFiveTimes(email: string): Promise<void> {
  for (let time = 0; time < 5; time++) {
    expect((await askFor(email)).status).toBe(201)
    await passMailLimitTime(app, MINUTE)
  }
}

test('past the limit, concurrent starts are all refused, and leave no operation whose code can be guessed', async () => {
  const email = newEmail()
  expect((await askFor(email)).status).toBe(201)
  const answers = await atOnce(Array.from({ length: 10 }, () => () => askFor(email, 'a guesser')))
  expect(countCodes(answers)).toEqual({ TOO_MANY_REQUESTS: 10 })
  expect(await app.sql`SELECT FROM codes WHERE email = ${email}`).toHaveLength(1)
})

test('the limit counts login, registration and e-mail change together', async () => {
  const email = newEmail()
  expect((await startChange(app, await app.signUp(), email)).status).toBe(201)
  expectTooMany(await askFor(email), { most: MINUTE })
})

test('strangers, also at its own address, keep out neither a browser that has signed in before nor a new one in a network with a session of the account', async () => {
  const [email, ip] = [newEmail(), newIp()]
  const { browser } = await app.signIn(email, 'my browser', { 'x-forwarded-for': ip })
  await passMailLimitTime(app, 24 * HOUR)
  await askFiveTimes(email)
  expectTooMany(await askFor(email), { most: 30 * MINUTE })
  expect((await askFor(email, 'my browser', browser)).status).toBe(201)
  await passMailLimitTime(app, MINUTE)
  const phone = { email, clientToken: 'my phone', ip }
  expect((await startAt(app, '/logins', phone)).status).toBe(201)
  const other = newEmail()
  await askFor(other)
  expectTooMany(await askFor(other, 'my browser', browser), { most: MINUTE })
  // Neighbours use up the requests of its address, and its right code gives them none back.
  const mine = { email, clientToken: 'my browser', browser, ip }
  expect(countCodes(await times(12, () => ask(app, ip)))).toHaveProperty('TOO_MANY_REQUESTS')
  const requests = () =>
    app.sql`SELECT key, arrival FROM rate_limits WHERE key LIKE 'code-request/%' ORDER BY key`
  const before = await requests()
  const { id } = (await startAt(app, '/logins', mine)).body
  expect((await verifyAt(app, '/logins', { ...mine, id })).status).toBe(200)
  expect(await requests()).toEqual(before)
})

const SPELLINGS = [
  (n: number) => `olga+${n}@example.org`,
  (n: number) => `OLGA+wall${n}@example.org.`,
  (n: number) => `ｏlga+${n}@ｅxample.org`,
]

test('one mailbox, however spelt, gets six code mails an hour: one a minute, five within minutes, and then one in half an hour', async () => {
  let asked = 0
  const askAnew = () => askFor(SPELLINGS[asked % 3]?.(asked++) ?? '')
  for (let minute = 0; minute < 6; minute++) {
    const { ok = 0 } = countCodes(await atOnce(Array(20).fill(askAnew)))
    expect(ok).toBe(minute < 5 ? 1 : 0)
    await passMailLimitTime(app, MINUTE)
  }
  await expect.poll(() => mailbox.mails.filter(({ to }) => to.includes('+')).length).toBe(5)
  const refused = await askAnew()
  expectTooMany(refused, { least: 23 * MINUTE, most: 24 * MINUTE })
  expect(refused.body.message).toMatch(
    /^Код на эту почту уже отправляли: следующий — через 2[34]:\d\d$/,
  )
  await passMailLimitTime(app, 24 * MINUTE)
  expect((await askAnew()).status).toBe(201)
  expectTooMany(await askAnew(), { most: 30 * MINUTE })
})

const IP = '192.0.2.1'

const ask = (app: TestApp, ip: string, path: '/logins' | '/registrations' = '/registrations') =>
  startAt(app, path, { email: newEmail(), ip })

async function times(count: number, act: () => Promise<TestAnswer>): Promise<TestAnswer[]> {
  const answers: TestAnswer[] = []
  for (let time = 0; time < count; time++) answers.push(await act())
  return answers
}

/** Requests a code, by default each time from another address. Returns how to check codes of it. */
async function startOne(app: TestApp, asker = `203.0.113.${operations++}`) {
  const started = await ask(app, asker)
  const { id } = started.body
  const [browser, right] = [browserOf(started), app.codeFor(id)]
  const check = (code = right, ip = IP) =>
    verifyAt(app, '/registrations', { id, code, ip, browser })
  return { check, guess: () => check(wrongCode(right)) }
}
let operations = 0

/** Checks four wrong codes and the right one. */
async function checkFive(app: TestApp): Promise<TestAnswer[]> {
  const { check, guess } = await startOne(app)
  return [...(await times(4, guess)), await check()]
}

test('one IP may request 10 codes a minute, for known, unknown and changed e-mails and while registrations are closed, 60 within minutes, and then one a minute', async () => {
  const users = [await app.signUp(), await app.signUp()]
  const changeEmail = (n: number) => startChange(app, users[n % 2] as TestUser, newEmail(), IP)
  for (let minute = 0; minute < 6; minute++) {
    // Only the address that the trusted proxy has added counts.
    const answers = await inNoTime(app, async () => [
      ...(await times(4, () => ask(app, IP))),
      await changeEmail(minute),
      ...(await times(5, () => ask(app, `198.51.100.7, ${IP}`, '/logins'))),
    ])
    expect(countCodes(answers)).toEqual({ ok: 5, USER_NOT_FOUND: 5 })
    expectTooMany(await ask(app, IP, '/logins'), { most: MINUTE })
    expectTooMany(await changeEmail(minute), { most: MINUTE })
    await passLimitTime(app, MINUTE)
  }
  // Six were allowed anew meanwhile.
  const late = await times(7, () => ask(app, IP, '/logins'))
  expect(countCodes(late)).toEqual({ USER_NOT_FOUND: 6, TOO_MANY_REQUESTS: 1 })
  await closeSite(app.db, { part: 'registrations', reason: 'Ремонт', actor: 'masha' })
  expectTooMany(await ask(app, IP), { least: 40, most: MINUTE })
  expectRefusal(await ask(app, '192.0.2.2'), 'REGISTRATION_CLOSED')
  await openSite(app.db, { part: 'registrations', actor: 'masha' })
  await passLimitTime(app, MINUTE)
  expect((await ask(app, IP)).status).toBe(201)
})

// Half of a limit comes back half as fast, so that a slow machine counts the same.
const HALF = { rateLimitScale: 0.5 }

test('one IP may check 20 codes a minute and 100 within minutes, and then one in 36 s, but for a known browser', async () => {
  const app = await strictApp(HALF)
  const { email, browser, clientToken } = await app.signIn(newEmail())
  const { id } = (await startAt(app, '/logins', { email, browser, clientToken })).body
  for (let minute = 0; minute < 5; minute++) {
    const answers = await inNoTime(app, async () => [
      ...(await checkFive(app)),
      ...(await checkFive(app)),
    ])
    expect(countCodes(answers)).toEqual({ INVALID_CONFIRM_CODE: 8, ok: 2 })
    const { check } = await startOne(app)
    expectTooMany(await check(), { most: MINUTE })
    expect((await check(undefined, '192.0.2.2')).status).toBe(200)
    await passLimitTime(app, MINUTE)
  }
  // Four were allowed anew meanwhile.
  const late = await checkFive(app)
  expect(countCodes(late)).toEqual({ INVALID_CONFIRM_CODE: 4, TOO_MANY_REQUESTS: 1 })
  expectTooMany(late.at(-1) as TestAnswer, { least: 40, most: 72 })
  expect((await verifyAt(app, '/logins', { id, browser, clientToken, ip: IP })).status).toBe(200)
})

test('code checks that cannot succeed, of no operation or past its five attempts, are limited to 20 a minute and 100 an hour, and do not keep others of the network from entering a code', async () => {
  const app = await strictApp(HALF)
  const [{ check }, locked] = [await startOne(app), await startOne(app)]
  await times(5, locked.guess)
  const ofNone = () => verifyAt(app, '/logins', { id: 'nobody', code: '123456', ip: IP })
  for (let minute = 0; minute < 5; minute++) {
    const [checkInVain, code] =
      minute % 2 ? [locked.guess, 'MAX_CONFIRM_ATTEMPTS'] : [ofNone, 'OPERATION_EXPIRED']
    const answers = await inNoTime(app, () => times(10, checkInVain))
    expect(countCodes(answers)).toEqual({ [code]: 10 })
    expectTooMany(await checkInVain(), { most: 72 })
    await passLimitTime(app, MINUTE)
  }
  const late = await times(5, ofNone)
  expect(countCodes(late)).toEqual({ OPERATION_EXPIRED: 4, TOO_MANY_REQUESTS: 1 })
  expectTooMany(late.at(-1) as TestAnswer, { least: 40, most: 72 })
  expect((await check()).status).toBe(200)
})

test('a right code takes back its request, its mail, its network and the wrong codes before it', async () => {
  const app = await strictApp()
  const counted = async (...limits: string[]) => {
    const rows = await app.sql`SELECT FROM rate_limits
      WHERE split_part(key, '/', 1) = ANY(${limits}) AND arrival > now()`
    return rows.length
  }
  const { check, guess } = await startOne(app, IP)
  const networks = () => app.db.selectFrom('mailed_networks').select('hash').execute()
  expect(await counted('code-request', 'code-mail')).toBe(2 + 3)
  expect(await networks()).toHaveLength(1)
  await times(4, guess)
  expect(await counted('wrong-code')).toBe(1)
  expect((await check()).status).toBe(200)
  expect(await counted('wrong-code', 'code-request', 'code-mail')).toBe(0)
  expect(await networks()).toEqual([])
})

test('one network opens 40 accounts, and then one in 90 s; right codes take nothing back; people with an account sign in, and no code is mailed to others', async () => {
  const { app, mailbox } = await mailAppForTest({ rateLimitScale: 1, trustProxy: ['127.0.0.1'] })
  const owner = await app.signIn('owner@example.org')
  const register = async (email: string, ip: string) => {
    const { status, body } = await startAt(app, '/registrations', { email, ip })
    return status === 201 ? verifyAt(app, '/registrations', { id: body.id, ip }) : undefined
  }
  await inNoTime(app, async () => {
    for (let account = 0; account < 39; account++) {
      expect((await register(`${account}@example.org`, IP))?.status).toBe(200)
      await forgetCodes(app)
    }
  })
  const [last, late] = ['last@example.org', 'late@example.org']
  const ids: string[] = []
  for (const email of [last, late]) {
    ids.push((await startAt(app, '/registrations', { email, ip: IP })).body.id)
  }
  const [ofLast, ofLate] = ids as [string, string]
  const verify = (id: string) => verifyAt(app, '/registrations', { id, ip: IP })
  expect((await verify(ofLast)).status).toBe(200)
  const refused = await verify(ofLate)
  expectTooMany(refused, { most: 90 })
  expect(refused.body.message).toMatch(
    /^Из вашей сети открыли много аккаунтов: следующий — через \d:\d\d$/,
  )
  expectTooMany(await startAt(app, '/registrations', { email: newEmail(), ip: IP }), { most: 90 })
  const known = await startAt(app, '/registrations', { email: owner.email, ip: IP })
  expect((await verify(known.body.id)).status).toBe(200)
  expect((await register('elsewhere@example.org', '192.0.2.2'))?.status).toBe(200)
  await passLimitTime(app, 90)
  // The refused code is still right.
  expect((await verify(ofLate)).status).toBe(200)
  expectTooMany(await startAt(app, '/registrations', { email: newEmail(), ip: IP }), { most: 90 })
  await mailbox.mailTo('elsewhere@example.org')
  expect(mailbox.mails.filter(({ to }) => to.startsWith('user-'))).toEqual([])
})

test('one network opens 120 accounts in a day, and then one in 12 minutes', async () => {
  const app = await strictApp()
  const register = async (ip: string) => {
    const { status, body } = await startAt(app, '/registrations', { email: newEmail(), ip })
    return status === 201 ? verifyAt(app, '/registrations', { id: body.id, ip }) : status
  }
  expect(await register(IP)).toMatchObject({ status: 200 })
  await app.sql`UPDATE rate_limits SET arrival = arrival + 119 * interval '12 minutes'
    WHERE key LIKE 'account/86400 %'`
  const refused = await startAt(app, '/registrations', { email: newEmail(), ip: IP })
  expectTooMany(refused, { least: 11 * MINUTE, most: 12 * MINUTE })
  expect(
    (await startAt(app, '/registrations', { email: newEmail(), ip: '192.0.2.9' })).status,
  ).toBe(201)
})

test('a wrong code states how many attempts the mailbox has left: two for each code of strangers, more for a known browser', async () => {
  const email = newEmail()
  const { browser: mine } = await app.signIn(email, 'my browser')
  let place = 0
  /** Requests a code from a new network. Returns how to check a code from other networks. */
  async function askAnew(clientToken = `guesser ${place}`, browser = '') {
    await passMailLimitTime(app, MINUTE)
    const ip = `10.2.0.${place++}`
    const started = await startAt(app, '/logins', { email, clientToken, ip, browser })
    expect(started.status).toBe(201)
    const { id } = started.body
    const client = { clientToken, ip: '10.9.9.9', browser: browser || browserOf(started) }
    const right = app.codeFor(id)
    const check = (code = right) => verifyAt(app, '/logins', { id, code, ...client })
    return { check, guess: async () => (await check(wrongCode(right))).body.message }
  }
  expect(await (await askAnew()).guess()).toBe('Неверный код. Осталось 4 попытки')
  await app.sql`UPDATE rate_limits SET arrival = now() + interval '34 hours'
    WHERE key LIKE 'wrong-code/%'`

  const stranger = await askAnew()
  expect(await stranger.guess()).toBe('Неверный код. Осталась 1 попытка')
  expect(await stranger.guess()).toMatch(/^Неверный код, попыток больше нет. Новый можно запросить/)
  expectTooMany(await stranger.check(), { least: 50 * MINUTE, most: HOUR })
  const known = await askAnew('my browser', mine)
  expect(await known.guess()).toBe('Неверный код. Осталось 4 попытки')
  expect((await known.check()).status).toBe(200)
  const newPhone = await askAnew()
  expect(await newPhone.guess()).toBe('Неверный код. Осталась 1 попытка')
  expect((await newPhone.check()).status).toBe(200)
})
