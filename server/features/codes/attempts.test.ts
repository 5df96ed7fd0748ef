import crypto from 'node:crypto'
import { syncBuiltinESMExports } from 'node:module'
import { expect, onTestFinished, test } from 'vitest'
import { CODE_LENGTH } from '../../../contract/constants.ts'
import { expectRefusal, expectTooMany } from '../../testing/expect-refusal.ts'
import { passCodeTime } from '../../testing/passing-time.ts'
import { countCodes, startAt, verifyAt, wrongCode } from '../../testing/sign-in-calls.ts'
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

async function attemptsOf(id: string): Promise<number | undefined> {
  const operation = app.db.selectFrom('codes').select('attempts').where('id', '=', id)
  return (await operation.executeTakeFirst())?.attempts
}

async function countRows(table: 'users' | 'sessions', email: string): Promise<number> {
  const users = app.db.selectFrom('users').select('id').where('email', '=', email)
  const rows =
    table === 'users'
      ? await users.execute()
      : await app.db.selectFrom('sessions').select('id').where('user_id', 'in', users).execute()
  return rows.length
}

test('a wrong code says how many attempts are left, and the last one when the next code may be asked for', async () => {
  const { id, right, wrong } = await startOne('left@example.org')
  const messages: string[] = []
  for (let attempt = 1; attempt <= 4; attempt++)
    messages.push((await guess(id, wrong)).body.message)
  expect(messages).toEqual([
    'Неверный код. Осталось 4 попытки',
    'Неверный код. Осталось 3 попытки',
    'Неверный код. Осталось 2 попытки',
    'Неверный код. Осталась 1 попытка',
  ])
  const mail = () => app.call('POST', `/codes/${id}/mail`, { body: { clientToken: 'one browser' } })
  await expect.poll(async () => (await mail()).body.state, { timeout: 15_000 }).toBe('sent')
  const last = await guess(id, wrong)
  const wait = /Новый можно запросить через (?:10|9) минут$/
  expect(last.body.message).toMatch(/^Неверный код, попыток больше нет\. /)
  expect(last.body.message).toMatch(wait)
  expect(Number(last.headers.get('retry-after'))).toBeGreaterThan(500)
  for (const locked of [await guess(id, right), await mail()]) {
    expectRefusal(locked, 'MAX_CONFIRM_ATTEMPTS')
    expect(locked.body.message).toMatch(/^Слишком много неверных кодов\. /)
    expect(locked.body.message).toMatch(wait)
  }
})

test('six wrong codes return INVALID_CONFIRM_CODE five times, then MAX_CONFIRM_ATTEMPTS, even for the right code', async () => {
  const { id, right, wrong } = await startOne('six@example.org')
  for (let attempt = 1; attempt <= 5; attempt++) {
    const { status, body } = await guess(id, wrong)
    expect([status, body.code]).toEqual([400, 'INVALID_CONFIRM_CODE'])
  }
  expect((await guess(id, wrong)).body.code).toBe('MAX_CONFIRM_ATTEMPTS')
  const late = await guess(id, right)
  expect([late.status, late.body.code]).toEqual([400, 'MAX_CONFIRM_ATTEMPTS'])
  expect(late.cookie).toBeUndefined()
  expect(await attemptsOf(id)).toBe(5)
})

test('the right code is still accepted after four wrong ones', async () => {
  const { id, right, wrong } = await startOne('four@example.org')
  for (let attempt = 1; attempt <= 4; attempt++) await guess(id, wrong)
  expect((await guess(id, right)).status).toBe(200)
})

test('of 200 wrong guesses sent at once exactly five are compared', async () => {
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
  expect(answers.filter(({ cookie }) => cookie !== undefined)).toHaveLength(1)
  expect(await countRows('users', 'once@example.org')).toBe(1)
  expect(await countRows('sessions', 'once@example.org')).toBe(1)
})

test('a code is accepted once: the second time it is OPERATION_EXPIRED', async () => {
  const { id, right } = await startOne('again@example.org')
  await guess(id, right)
  const again = await guess(id, right)
  expect([again.status, again.body.code]).toEqual([400, 'OPERATION_EXPIRED'])
})

test('starting again does not reset the attempts', async () => {
  const { id, right, wrong } = await startOne('reset@example.org')
  for (let attempt = 1; attempt <= 4; attempt++) await guess(id, wrong)
  await passCodeTime(app, 61)
  expect((await startOne('reset@example.org')).id).toBe(id)
  await guess(id, wrong)
  expect((await guess(id, right)).body.code).toBe('MAX_CONFIRM_ATTEMPTS')
})

test('after five wrong codes a start says how long the lock remains, and mails the dead code to nobody', async () => {
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

test('an expired operation without attempts left is followed by a new one', async () => {
  const { id, wrong } = await startOne('fresh@example.org')
  for (let attempt = 1; attempt <= 6; attempt++) await guess(id, wrong)
  await passCodeTime(app, 601)
  const next = await startOne('fresh@example.org')
  expect(next.id).not.toBe(id)
  expect((await guess(next.id, next.right)).status).toBe(200)
})

test('a stranger who knows only the operation id cannot use up its attempts', async () => {
  const { id, right, wrong } = await startOne('calm@example.org')
  for (let attempt = 1; attempt <= 6; attempt++) {
    expect((await guess(id, wrong, 'another browser')).body.code).toBe('OPERATION_EXPIRED')
  }
  expect((await guess(id, right)).status).toBe(200)
})

test.each([
  ['five digits', '12345'],
  ['seven digits', '1234567'],
  ['letters', 'abcdef'],
  ['digits of another alphabet', '１２３４５６'],
  ['a line feed at the end', '123456\n'],
  ['a number', 123456],
])('%s is INVALID_REQUEST as a code and uses no attempt', async (_what, confirmCode) => {
  const { id } = await startOne('shape@example.org')
  const body = { confirmCode, clientToken: 'one browser' }
  const { status, body: answer } = await app.call('POST', `/registrations/${id}/verify`, { body })
  expect([status, answer.code]).toEqual([400, 'INVALID_REQUEST'])
  expect(await attemptsOf(id)).toBe(0)
})
