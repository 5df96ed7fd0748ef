import crypto from 'node:crypto'
import { syncBuiltinESMExports } from 'node:module'
import { expect, onTestFinished, test, vi } from 'vitest'
import { CODE_LENGTH } from '../../../contract/constants.ts'
import { createAccountFixture } from '../../testing/calls/account-fixture.ts'
import {
  countCodes,
  readMailState,
  startAt,
  verifyAt,
  wrongCode,
} from '../../testing/calls/sign-in-calls.ts'
import { passCodeTime, passLimitTime } from '../../testing/database/passing-time.ts'
import { expectRefusal, expectTooMany } from '../../testing/http/expect-refusal.ts'
import { appForFile, appForTest, mailAppForTest } from '../../testing/test-app.ts'

const app = await appForFile()

/** Starts a registration. Returns its id, the right code and a wrong one. */
async function startOne(email: string, browser: { clientToken?: string } = {}) {
  const { status, body } = await startAt(app, '/registrations', { email, ...browser })
  expect(status).toBe(201)
  const right = app.codeFor(body.id)
  return { id: body.id as string, right, wrong: wrongCode(right) }
}

const guess = (id: string, code: string, clientToken?: string) =>
  verifyAt(app, '/registrations', { id, code, ...(clientToken && { clientToken }) })

test('five wrong codes say how many attempts are left; then even the right one is MAX_CONFIRM_ATTEMPTS, with the wait for the next code', async () => {
  const { id, right, wrong } = await startOne('left@example.org')
  for (const left of [
    'Осталось 4 попытки',
    'Осталось 3 попытки',
    'Осталось 2 попытки',
    'Осталась 1 попытка',
  ]) {
    const answer = await guess(id, wrong)
    expectRefusal(answer, 'INVALID_CONFIRM_CODE')
    expect(answer.body.message).toBe(`Неверный код. ${left}`)
  }
  await expect.poll(async () => (await readMailState(app, id)).body.state).toBe('sent')
  const last = await guess(id, wrong)
  expectRefusal(last, 'INVALID_CONFIRM_CODE')
  const wait =
    /Новый можно запросить через (?:1 минуту|\d+ с)\. Войти с другого устройства можно уже сейчас$/
  expect(last.body.message).toMatch(/^Неверный код, попыток больше нет\. /)
  expect(last.body.message).toMatch(wait)
  expect(Number(last.headers.get('retry-after'))).toBe(60)
  for (const locked of [
    await guess(id, wrong),
    await guess(id, right),
    await readMailState(app, id),
  ]) {
    expectRefusal(locked, 'MAX_CONFIRM_ATTEMPTS')
    expect(locked.body.message).toMatch(/^Слишком много неверных кодов\. /)
    expect(locked.body.message).toMatch(wait)
    expect(locked.cookie).toBeUndefined()
  }
})

test('exactly five of 200 concurrent wrong guesses are compared', async () => {
  const { id, wrong } = await startOne('parallel@example.org')
  const compare = vi.spyOn(crypto, 'timingSafeEqual')
  syncBuiltinESMExports()
  onTestFinished(() => {
    compare.mockRestore()
    syncBuiltinESMExports()
  })
  const answers = await Promise.all(Array.from({ length: 200 }, () => guess(id, wrong)))
  const { INVALID_CONFIRM_CODE, ...rest } = countCodes(answers)
  expect(INVALID_CONFIRM_CODE).toBe(5)
  expectOnly(rest, ['MAX_CONFIRM_ATTEMPTS', 'UNAVAILABLE'])
  // Those of six bytes are of codes.
  const codes = compare.mock.calls.filter(([given]) => given.byteLength === CODE_LENGTH)
  expect(codes).toHaveLength(5)
})

test('50 right codes sent at once open one session, whose cookie all answers set', async () => {
  const { id, right } = await startOne('once@example.org')
  const answers = await Promise.all(Array.from({ length: 50 }, () => guess(id, right)))
  const { ok = 0, ...rest } = countCodes(answers)
  expect(ok).toBeGreaterThan(1)
  expectOnly(rest, ['UNAVAILABLE'])
  const opened = answers.filter(({ cookie }) => cookie !== undefined)
  expect(opened).toHaveLength(ok)
  expect(new Set(opened.map(({ headers }) => headers.getSetCookie().join('\n'))).size).toBe(1)
  const token: string = opened[0]?.body.accessToken.token
  expect((await app.call('GET', '/sessions', { token })).body.sessions).toHaveLength(1)
})

function expectOnly(counts: object, codes: string[]): void {
  expect(codes).toEqual(expect.arrayContaining(Object.keys(counts)))
}

test('starting again resets no attempts; after five wrong codes it is refused for a minute, and then mails another code', async () => {
  const { app, mailbox } = await mailAppForTest()
  const { email } = await app.signUp()
  const start = () => startAt(app, '/logins', { email })
  const { id } = (await start()).body
  const check = (code: string) => verifyAt(app, '/logins', { id, code })
  const right = app.codeFor(id)
  for (let attempt = 1; attempt <= 4; attempt++) await check(wrongCode(right))
  await passCodeTime(app, 61)
  expect((await start()).body.id).toBe(id)
  await mailbox.codeFor(email, 3)
  await check(wrongCode(right))
  expectRefusal(await check(right), 'MAX_CONFIRM_ATTEMPTS')

  await passCodeTime(app, 20)
  const refused = await start()
  expectTooMany(refused, { least: 20, most: 40 })
  expect(refused.body.message).toMatch(
    /^Слишком много неверных кодов: новый — через 0:[234]\d\. Войти с другого устройства/,
  )
  await passLimitTime(app, 80)
  await passCodeTime(app, 41)
  const next = (await start()).body
  expect(next.id).not.toBe(id)
  await mailbox.codeFor(email, 4)
  expect(mailbox.mails).toHaveLength(4)
  expect((await verifyAt(app, '/logins', { id: next.id })).status).toBe(200)
})

test('a stranger who knows only the operation id can neither use its code nor use up its attempts', async () => {
  const { id, right, wrong } = await startOne('calm@example.org')
  for (const code of [right, ...Array<string>(6).fill(wrong)]) {
    const refused = await guess(id, code, 'another browser')
    expectRefusal(refused, 'OPERATION_EXPIRED')
    expect(refused.cookie).toBeUndefined()
  }
  expect((await guess(id, right)).status).toBe(200)
})

const VERIFY_CALLS = {
  registration: ['POST', '/registrations'],
  login: ['POST', '/logins'],
  change: ['PUT', '/users/current/email'],
  deletion: ['POST', '/users/current/deletion'],
} as const
const PURPOSES = Object.keys(VERIFY_CALLS) as (keyof typeof VERIFY_CALLS)[]

test('a start returns 201 with an id of at least 128 random bits', async () => {
  const started = await Promise.all(
    Array.from({ length: 20 }, (_, index) => startOne(`random-${index}@example.org`)),
  )
  expect(new Set(started.map(({ id }) => id)).size).toBe(20)
  // Each character has six bits.
  for (const { id } of started) expect(id).toMatch(/^[\w-]{22,}$/)
})

test('a code is valid for CODE_TTL_SECONDS, and OPERATION_EXPIRED after them', async () => {
  const brief = await appForTest({ config: { codeTtlSeconds: 60 } })
  for (const seconds of [50, 61]) {
    const { body } = await startAt(brief, '/registrations', { email: `in-${seconds}@example.org` })
    await passCodeTime(brief, seconds)
    const answer = await verifyAt(brief, '/registrations', { id: body.id })
    expect(countCodes([answer])).toEqual({ [seconds < 60 ? 'ok' : 'OPERATION_EXPIRED']: 1 })
  }
})

test('the code of one operation is wrong for another', async () => {
  const { right } = await startOne('first@example.org')
  const { id } = await startOne('second@example.org')
  expectRefusal(await guess(id, right), 'INVALID_CONFIRM_CODE')
})

test('a code is accepted only for the purpose it was requested for', async () => {
  const { owner, ...operations } = await createAccountFixture(app)
  const { token, clientToken } = owner
  const verify = (method: string, path: string, of: keyof typeof VERIFY_CALLS) => {
    const { id, confirmCode } = operations[of]
    return app.call(method, `${path}/${id}/verify`, { token, body: { confirmCode, clientToken } })
  }
  for (const [purpose, [method, path]] of Object.entries(VERIFY_CALLS)) {
    for (const other of PURPOSES.filter((name) => name !== purpose)) {
      expectRefusal(await verify(method, path, other), 'OPERATION_EXPIRED')
    }
  }
  expect((await verify('POST', '/logins', 'login')).status).toBe(200)
  const { id: login } = (await startAt(app, '/logins', { email: owner.email, clientToken })).body
  expect((await startOne(owner.email, { clientToken })).id).not.toBe(login)
})
