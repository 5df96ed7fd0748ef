import crypto from 'node:crypto'
import { syncBuiltinESMExports } from 'node:module'
import { expect, onTestFinished, test } from 'vitest'
import { CODE_LENGTH } from '../../../contract/constants.ts'
import { expectRefusal, expectTooMany } from '../../testing/expect-refusal.ts'
import { passCodeTime } from '../../testing/passing-time.ts'
import { askMail, countCodes, startAt, verifyAt, wrongCode } from '../../testing/sign-in-calls.ts'
import { appForFile, mailAppForTest } from '../../testing/test-app.ts'

const app = await appForFile()

/** Starts a new registration. Returns its id, the right code and a wrong one. */
async function startOne(email: string) {
  const { body } = await startAt(app, '/registrations', { email })
  const right = app.codeFor(body.id)
  return { id: body.id as string, right, wrong: wrongCode(right) }
}

function guess(id: string, code: string, clientToken?: string) {
  return verifyAt(app, '/registrations', { id, code, ...(clientToken && { clientToken }) })
}

/** Counts timing-safe comparisons of six bytes, which are those of codes, until the test ends. */
function countCodeComparisons(): () => number {
  const { timingSafeEqual } = crypto
  let count = 0
  crypto.timingSafeEqual = (given, right) => {
    if (given.byteLength === CODE_LENGTH) count++
    return timingSafeEqual(given, right)
  }
  syncBuiltinESMExports()
  onTestFinished(() => {
    crypto.timingSafeEqual = timingSafeEqual
    syncBuiltinESMExports()
  })
  return () => count
}

test('five wrong codes say how many attempts are left; then even the right one is MAX_CONFIRM_ATTEMPTS, with the wait for the next code', async () => {
  const { id, right, wrong } = await startOne('left@example.org')
  const messages: string[] = []
  for (let attempt = 1; attempt <= 4; attempt++) {
    const answer = await guess(id, wrong)
    expectRefusal(answer, 'INVALID_CONFIRM_CODE')
    messages.push(answer.body.message)
  }
  expect(messages).toEqual([
    'Неверный код. Осталось 4 попытки',
    'Неверный код. Осталось 3 попытки',
    'Неверный код. Осталось 2 попытки',
    'Неверный код. Осталась 1 попытка',
  ])
  await expect.poll(async () => (await askMail(app, id)).body.state).toBe('sent')
  const last = await guess(id, wrong)
  expectRefusal(last, 'INVALID_CONFIRM_CODE')
  const wait = /Новый можно запросить через (?:10|9) минут$/
  expect(last.body.message).toMatch(/^Неверный код, попыток больше нет\. /)
  expect(last.body.message).toMatch(wait)
  expect(Number(last.headers.get('retry-after'))).toBeGreaterThan(500)
  for (const locked of [await guess(id, wrong), await guess(id, right), await askMail(app, id)]) {
    expectRefusal(locked, 'MAX_CONFIRM_ATTEMPTS')
    expect(locked.body.message).toMatch(/^Слишком много неверных кодов\. /)
    expect(locked.body.message).toMatch(wait)
    expect(locked.cookie).toBeUndefined()
  }
})

test('exactly five of 200 concurrent wrong guesses are compared', async () => {
  const { id, wrong } = await startOne('parallel@example.org')
  const compared = countCodeComparisons()
  const answers = await Promise.all(Array.from({ length: 200 }, () => guess(id, wrong)))
  const {
    INVALID_CONFIRM_CODE,
    MAX_CONFIRM_ATTEMPTS = 0,
    UNAVAILABLE = 0,
    ...rest
  } = countCodes(answers)
  expect(rest).toEqual({})
  expect(INVALID_CONFIRM_CODE).toBe(5)
  expect(MAX_CONFIRM_ATTEMPTS + UNAVAILABLE).toBe(195)
  expect(compared()).toBe(5)
})

test('50 right codes sent at once open one session', async () => {
  const { id, right } = await startOne('once@example.org')
  const answers = await Promise.all(Array.from({ length: 50 }, () => guess(id, right)))
  const {
    ok,
    OPERATION_EXPIRED = 0,
    MAX_CONFIRM_ATTEMPTS = 0,
    UNAVAILABLE = 0,
    ...rest
  } = countCodes(answers)
  expect([ok, OPERATION_EXPIRED + MAX_CONFIRM_ATTEMPTS + UNAVAILABLE, rest]).toEqual([1, 49, {}])
  const [opened, ...others] = answers.filter(({ cookie }) => cookie !== undefined)
  expect(others).toEqual([])
  const token: string = opened?.body.accessToken.token
  expect((await app.call('GET', '/sessions', { token })).body.sessions).toHaveLength(1)
})

test('starting again does not reset the attempts', async () => {
  const { id, right, wrong } = await startOne('reset@example.org')
  for (let attempt = 1; attempt <= 4; attempt++) await guess(id, wrong)
  await passCodeTime(app, 61)
  expect((await startOne('reset@example.org')).id).toBe(id)
  await guess(id, wrong)
  expect((await guess(id, right)).body.code).toBe('MAX_CONFIRM_ATTEMPTS')
})

test('a start after five wrong codes is refused with the rest of the lock, and mails no code', async () => {
  const { app, mailbox } = await mailAppForTest()
  const user = await app.signUp()
  const start = () => startAt(app, '/logins', { email: user.email })
  const { id } = (await start()).body
  await mailbox.codeFor(user.email, 2)
  for (let attempt = 1; attempt <= 5; attempt++) {
    await verifyAt(app, '/logins', { id, code: wrongCode(app.codeFor(id)) })
  }
  await passCodeTime(app, 61)
  const refused = await start()
  expectTooMany(refused, { least: 500, most: 540 })
  expect(refused.body.message).toMatch(/^Слишком много неверных кодов: новый — через [89]:\d\d$/)
  await passCodeTime(app, 540)
  expect((await start()).body.id).not.toBe(id)
  await mailbox.codeFor(user.email, 3)
  expect(mailbox.mails).toHaveLength(3)
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

test('a code that is not six digits is INVALID_REQUEST and uses no attempt', async () => {
  const { id, wrong } = await startOne('shape@example.org')
  for (const code of ['12345', '1234567', '１２３４５６', '123456\n']) {
    expectRefusal(await guess(id, code), 'INVALID_REQUEST')
  }
  expect((await guess(id, wrong)).body.message).toBe('Неверный код. Осталось 4 попытки')
})
