import { expect, test } from 'vitest'
import { NO_USER } from '../../kernel/db/database.ts'
import { DEVICE } from '../../testing/client.ts'
import { passCodeTime } from '../../testing/passing-time.ts'
import { startAt, verifyAt } from '../../testing/sign-in-calls.ts'
import { appForFile, appForTest } from '../../testing/test-app.ts'
import { removeExpiredOperations, removeOperations } from './codes.repository.ts'

const app = await appForFile()

async function register(email: string, clientToken?: string, on = app): Promise<string> {
  const started = await startAt(on, '/registrations', {
    email,
    ...(clientToken && { clientToken }),
  })
  expect(started.status).toBe(201)
  return started.body.id
}

test('a start returns 201 with an id of at least 128 random bits', async () => {
  const ids = await Promise.all(
    Array.from({ length: 20 }, (_, index) => register(`random-${index}@example.org`)),
  )
  expect(new Set(ids).size).toBe(20)
  for (const id of ids) {
    expect(id).toMatch(/^[A-Za-z0-9_-]+$/)
    expect(Buffer.from(id, 'base64url').length).toBeGreaterThanOrEqual(16)
  }
})

test('a code is valid for 10 minutes, and OPERATION_EXPIRED after them', async () => {
  const early = await register('early@example.org')
  await passCodeTime(app, 590)
  const inTime = await verifyAt(app, '/registrations', { id: early, code: app.codeFor(early) })
  expect(inTime.status).toBe(200)

  const late = await register('late@example.org')
  await passCodeTime(app, 601)
  const tooLate = await verifyAt(app, '/registrations', { id: late, code: app.codeFor(late) })
  expect([tooLate.status, tooLate.body.code]).toEqual([400, 'OPERATION_EXPIRED'])
})

test('CODE_TTL_SECONDS sets another validity', async () => {
  const brief = await appForTest({ config: { codeTtlSeconds: 60 } })
  const id = await register('brief@example.org', undefined, brief)
  await passCodeTime(brief, 61)
  const answer = await verifyAt(brief, '/registrations', { id, code: brief.codeFor(id) })
  expect(answer.body.code).toBe('OPERATION_EXPIRED')
})

test('an operation that nobody started is OPERATION_EXPIRED', async () => {
  const answer = await verifyAt(app, '/logins', { id: 'A'.repeat(32), code: '123456' })
  expect([answer.status, answer.body.code]).toEqual([400, 'OPERATION_EXPIRED'])
})

test('the code of one operation is wrong for another', async () => {
  const first = await register('first@example.org')
  const second = await register('second@example.org')
  const crossed = await verifyAt(app, '/registrations', { id: second, code: app.codeFor(first) })
  expect(crossed.body.code).toBe('INVALID_CONFIRM_CODE')
})

test('a code is accepted only for the purpose it was requested for', async () => {
  const user = await app.signIn('purpose@example.org')
  const { clientToken } = user
  const registration = await register('purpose@example.org', clientToken)
  const login = (await startAt(app, '/logins', { email: user.email, clientToken })).body.id
  expect(login).not.toBe(registration)

  const wrongly = [
    await verifyAt(app, '/logins', {
      id: registration,
      code: app.codeFor(registration),
      clientToken,
    }),
    await verifyAt(app, '/registrations', { id: login, code: app.codeFor(login), clientToken }),
    await app.call('PUT', `/users/current/email/${login}/verify`, {
      token: user.token,
      body: { confirmCode: app.codeFor(login), clientToken },
    }),
  ]
  for (const { status, body } of wrongly) {
    expect([status, body.code]).toEqual([400, 'OPERATION_EXPIRED'])
  }
  const rightly = await verifyAt(app, '/logins', {
    id: login,
    code: app.codeFor(login),
    clientToken,
  })
  expect(rightly.status).toBe(200)
})

test('a code is accepted only from the client that requested it', async () => {
  const id = await register('mine@example.org', 'my browser')
  const code = app.codeFor(id)
  const stolen = await verifyAt(app, '/registrations', { id, code, clientToken: 'thief' })
  expect([stolen.status, stolen.body.code]).toEqual([400, 'OPERATION_EXPIRED'])
  expect(stolen.cookie).toBeUndefined()
})

test('two clients that request codes for one e-mail get different operations', async () => {
  const mine = await register('shared@example.org', 'my browser')
  const yours = await register('shared@example.org', 'your browser')
  expect(yours).not.toBe(mine)
})

test('a start after an expired operation returns another id', async () => {
  const first = await register('again@example.org')
  await passCodeTime(app, 601)
  expect(await register('again@example.org')).not.toBe(first)
})

test('expired operations are removed, the others stay', async () => {
  await register('expired@example.org')
  await passCodeTime(app, 601)
  const kept = await register('kept@example.org')
  await removeExpiredOperations(app.db)
  expect(await app.db.selectFrom('codes').select('id').execute()).toEqual([{ id: kept }])
})

test('the operations of one purpose of a user are removed, and no others', async () => {
  const { id: userId, token, clientToken } = await app.signUp()
  const body = { email: 'moved@example.org', clientToken }
  const { id } = (await app.call('PUT', '/users/current/email', { token, body })).body
  const isThere = async () => {
    const operation = app.db.selectFrom('codes').select('id').where('id', '=', id)
    return (await operation.executeTakeFirst()) !== undefined
  }
  await removeOperations(app.db, { purpose: 'email-change', userId: NO_USER })
  await removeOperations(app.db, { purpose: 'account-deletion', userId })
  expect(await isThere()).toBe(true)
  await removeOperations(app.db, { purpose: 'email-change', userId })
  expect(await isThere()).toBe(false)
})

test.each([
  ['an unknown field', { email: 'a@example.org', clientToken: 'c', device: DEVICE, extra: 1 }],
  ['no device', { email: 'a@example.org', clientToken: 'c' }],
  [
    'a device without its system',
    { email: 'a@example.org', clientToken: 'c', device: { userAgent: '', userAgentVersion: '' } },
  ],
  ['an empty clientToken', { email: 'a@example.org', clientToken: '', device: DEVICE }],
  [
    'a clientToken of 257 characters',
    { email: 'a@example.org', clientToken: 'c'.repeat(257), device: DEVICE },
  ],
  ['a number for an e-mail', { email: 1, clientToken: 'c', device: DEVICE }],
  ['a NUL in the clientToken', { email: 'a@example.org', clientToken: 'c\0', device: DEVICE }],
])('a start with %s is INVALID_REQUEST', async (_what, body) => {
  for (const path of ['/registrations', '/logins']) {
    const answer = await app.call('POST', path, { body })
    expect([answer.status, answer.body.code]).toEqual([400, 'INVALID_REQUEST'])
  }
})
