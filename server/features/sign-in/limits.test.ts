import { sql } from 'kysely'
import { expect, test } from 'vitest'
import type { TestAnswer } from '../../testing/client.ts'
import { expectRefusal, expectTooMany } from '../../testing/expect-refusal.ts'
import { ask, strictApp, times } from '../../testing/limited-app.ts'
import { inNoTime, passLimitTime, passMailLimitTime } from '../../testing/passing-time.ts'
import { countCodes, startAt, verifyAt, wrongCode } from '../../testing/sign-in-calls.ts'
import { appForTest, type TestApp } from '../../testing/test-app.ts'
import { closeSite, openSite } from '../site-state/site-state.service.ts'

const MINUTE = 60
const HOUR = 3600

let operations = 0

/** Checks a code for an operation that nobody started. */
function checkInVain(app: TestApp, ip: string): Promise<TestAnswer> {
  return verifyAt(app, '/logins', { id: 'nobody-started-this', code: '123456', ip })
}

/**
 * Starts an operation, from another address each time, and checks four wrong codes and the right
 * one.
 */
async function checkFive(app: TestApp, ip: string): Promise<TestAnswer[]> {
  const { body } = await ask(app, `203.0.113.${operations++}`)
  const right = app.codeFor(body.id)
  const codes = [...Array<string>(4).fill(wrongCode(right)), right]
  const answers: TestAnswer[] = []
  for (const code of codes) {
    answers.push(await verifyAt(app, '/registrations', { id: body.id, code, ip }))
  }
  return answers
}

test('one IP may request 10 codes a minute, for known and unknown e-mails and while registrations are closed, then gets 429 with Retry-After', async () => {
  const app = await strictApp()
  // Only the address that the trusted proxy has added counts.
  const answers = await inNoTime(app, async () => [
    ...(await times(5, () => ask(app, '192.0.2.1'))),
    ...(await times(5, () => ask(app, '198.51.100.7, 192.0.2.1', '/logins'))),
  ])
  expect(countCodes(answers)).toEqual({ ok: 5, USER_NOT_FOUND: 5 })
  expectTooMany(await ask(app, '192.0.2.1', '/logins'), { most: MINUTE })
  await closeSite(app.db, { part: 'registrations', reason: 'Ремонт', actor: 'masha' })
  expectTooMany(await ask(app, '192.0.2.1'), { most: MINUTE })
  expectRefusal(await ask(app, '192.0.2.2'), 'REGISTRATION_CLOSED')

  await openSite(app.db, { part: 'registrations', actor: 'masha' })
  await passLimitTime(app, MINUTE)
  expect((await ask(app, '192.0.2.1')).status).toBe(201)
})

test('one IP may request 60 codes within minutes, and then one a minute', async () => {
  const app = await strictApp()
  for (let minute = 0; minute < 6; minute++) {
    const answers = await times(10, () => ask(app, '192.0.2.1', '/logins'))
    expect(countCodes(answers)).toEqual({ USER_NOT_FOUND: 10 })
    await passLimitTime(app, MINUTE)
  }
  // Six were allowed anew meanwhile.
  const late = await times(7, () => ask(app, '192.0.2.1', '/logins'))
  expect(countCodes(late)).toEqual({ USER_NOT_FOUND: 6, TOO_MANY_REQUESTS: 1 })
  await passLimitTime(app, MINUTE)
  expect((await ask(app, '192.0.2.1')).status).toBe(201)
  expectTooMany(await ask(app, '192.0.2.1'), { least: 40, most: MINUTE })
})

// Half of a limit comes back half as fast, so that a slow machine counts the same.
const HALF = { rateLimitScale: 0.5 }

test('one IP may check 20 codes a minute and 100 within minutes, and then one in 36 s', async () => {
  const app = await strictApp(HALF)
  for (let minute = 0; minute < 5; minute++) {
    const answers = await inNoTime(app, async () => [
      ...(await checkFive(app, '192.0.2.1')),
      ...(await checkFive(app, '192.0.2.1')),
    ])
    expect(countCodes(answers)).toEqual({ INVALID_CONFIRM_CODE: 8, ok: 2 })
    const { id } = (await ask(app, `203.0.113.${operations++}`)).body
    const check = (ip: string) => verifyAt(app, '/registrations', { id, ip })
    expectTooMany(await check('192.0.2.1'), { most: MINUTE })
    expect((await check('192.0.2.2')).status).toBe(200)
    await passLimitTime(app, MINUTE)
  }
  // Four were allowed anew meanwhile.
  const late = await checkFive(app, '192.0.2.1')
  expect(countCodes(late)).toEqual({ INVALID_CONFIRM_CODE: 4, TOO_MANY_REQUESTS: 1 })
  expectTooMany(late.at(-1) as TestAnswer, { least: 40, most: 72 })
})

test('code checks that cannot succeed are limited to 20 a minute and 100 an hour, and do not keep others of the network from entering a code', async () => {
  const app = await strictApp(HALF)
  const { body } = await ask(app, '192.0.2.1')
  for (let minute = 0; minute < 5; minute++) {
    const answers = await inNoTime(app, () => times(10, () => checkInVain(app, '192.0.2.1')))
    expect(countCodes(answers)).toEqual({ OPERATION_EXPIRED: 10 })
    expectTooMany(await checkInVain(app, '192.0.2.1'), { most: 72 })
    await passLimitTime(app, MINUTE)
  }
  const late = await times(5, () => checkInVain(app, '192.0.2.1'))
  expect(countCodes(late)).toEqual({ OPERATION_EXPIRED: 4, TOO_MANY_REQUESTS: 1 })
  expectTooMany(late.at(-1) as TestAnswer, { least: 40, most: 72 })
  const right = { id: body.id, ip: '192.0.2.1' }
  expect((await verifyAt(app, '/registrations', right)).status).toBe(200)
})

test('checks past the five attempts of an operation cannot succeed either', async () => {
  const app = await strictApp(HALF)
  const { body } = await ask(app, '192.0.2.1')
  const wrong = { id: body.id, code: wrongCode(app.codeFor(body.id)), ip: '192.0.2.1' }
  const check = () => verifyAt(app, '/registrations', wrong)
  const answers = await inNoTime(app, () => times(15, check))
  expect(countCodes(answers)).toEqual({ INVALID_CONFIRM_CODE: 5, MAX_CONFIRM_ATTEMPTS: 10 })
  expectTooMany(await check(), { most: MINUTE })
  const [next] = await checkFive(app, '192.0.2.1')
  expect(next?.body.code).toBe('INVALID_CONFIRM_CODE')
})

test('nodes on one database share the limits of sign-in', async () => {
  const app = await strictApp()
  const config = { rateLimitScale: 1, trustProxy: ['127.0.0.1'] }
  const node = await appForTest({ config, databaseUrl: app.databaseUrl })
  await inNoTime(app, async () => {
    for (let time = 0; time < 5; time++) {
      expect((await ask(app, '192.0.2.1', '/logins')).status).toBe(404)
      expect((await ask(node, '192.0.2.1', '/logins')).status).toBe(404)
    }
  })
  expectTooMany(await ask(app, '192.0.2.1'), { most: MINUTE })
  expectTooMany(await ask(node, '192.0.2.1'), { most: MINUTE })
})

test('a right code takes back its request, its mail and the wrong codes before it', async () => {
  const app = await strictApp()
  const counted = async (...limits: string[]) =>
    (
      await sql`SELECT FROM rate_limits
        WHERE split_part(key, '/', 1) = ANY(${limits}) AND arrival > now()`.execute(app.db)
    ).rows.length
  const { body } = await ask(app, '10.2.0.1')
  const right = app.codeFor(body.id)
  const check = (code: string) =>
    verifyAt(app, '/registrations', { id: body.id, code, ip: '10.2.0.1' })
  expect(await counted('code-request', 'code-mail')).toBe(2 + 3)
  for (let time = 0; time < 4; time++) await check(wrongCode(right))
  expect(await counted('wrong-code')).toBe(1)
  expect((await check(right)).status).toBe(200)
  expect(await counted('wrong-code', 'code-request', 'code-mail')).toBe(0)
})

test('a wrong code states how many attempts the mailbox has left: two for each code of strangers, more for a known browser', async () => {
  const app = await strictApp()
  const email = 'olga@example.org'
  const { browser: mine } = await app.signIn(email, 'my browser')
  let place = 0
  /** Requests a code from a new network. Returns how to check a code from other networks. */
  async function askAnew(clientToken = `guesser ${place}`, browser = '') {
    await passMailLimitTime(app, MINUTE)
    const ip = `10.2.0.${place++}`
    const { status, body } = await startAt(app, '/logins', { email, clientToken, ip, browser })
    expect(status).toBe(201)
    const right = app.codeFor(body.id)
    const check = (code: string) =>
      verifyAt(app, '/logins', { id: body.id, code, clientToken, ip: '10.9.9.9', browser })
    const guess = async () => (await check(wrongCode(right))).body.message
    return { enter: () => check(right), guess }
  }
  expect(await (await askAnew()).guess()).toBe('Неверный код. Осталось 4 попытки')
  await sql`UPDATE rate_limits SET arrival = now() + interval '34 hours'
    WHERE key LIKE 'wrong-code/%'`.execute(app.db)

  const stranger = await askAnew()
  expect(await stranger.guess()).toBe('Неверный код. Осталась 1 попытка')
  expect(await stranger.guess()).toMatch(/^Неверный код, попыток больше нет. Новый можно запросить/)
  expectTooMany(await stranger.enter(), { least: 50 * MINUTE, most: HOUR })
  const known = await askAnew('my browser', mine)
  expect(await known.guess()).toBe('Неверный код. Осталось 4 попытки')
  expect((await known.enter()).status).toBe(200)
  const newPhone = await askAnew()
  expect(await newPhone.guess()).toBe('Неверный код. Осталась 1 попытка')
  expect((await newPhone.enter()).status).toBe(200)
})
