import { expect, test } from 'vitest'
import { createAccountFixture } from '../../testing/account-fixture.ts'
import { expectRefusal } from '../../testing/expect-refusal.ts'
import { passCodeTime } from '../../testing/passing-time.ts'
import { startAt, verifyAt } from '../../testing/sign-in-calls.ts'
import { appForFile, appForTest } from '../../testing/test-app.ts'

const app = await appForFile()

async function register(email: string, clientToken?: string, on = app): Promise<string> {
  const started = await startAt(on, '/registrations', {
    email,
    ...(clientToken && { clientToken }),
  })
  expect(started.status).toBe(201)
  return started.body.id
}

const VERIFY_CALLS = {
  registration: ['POST', '/registrations'],
  login: ['POST', '/logins'],
  change: ['PUT', '/users/current/email'],
  deletion: ['POST', '/users/current/deletion'],
} as const
const PURPOSES = Object.keys(VERIFY_CALLS) as (keyof typeof VERIFY_CALLS)[]

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
  const inTime = await verifyAt(app, '/registrations', { id: early })
  expect(inTime.status).toBe(200)

  const late = await register('late@example.org')
  await passCodeTime(app, 601)
  const tooLate = await verifyAt(app, '/registrations', { id: late })
  expectRefusal(tooLate, 'OPERATION_EXPIRED')
})

test('CODE_TTL_SECONDS sets another validity', async () => {
  const brief = await appForTest({ config: { codeTtlSeconds: 60 } })
  const id = await register('brief@example.org', undefined, brief)
  await passCodeTime(brief, 61)
  const answer = await verifyAt(brief, '/registrations', { id, code: brief.codeFor(id) })
  expect(answer.body.code).toBe('OPERATION_EXPIRED')
})

test('the code of one operation is wrong for another', async () => {
  const first = await register('first@example.org')
  const second = await register('second@example.org')
  const crossed = await verifyAt(app, '/registrations', { id: second, code: app.codeFor(first) })
  expect(crossed.body.code).toBe('INVALID_CONFIRM_CODE')
})

test('a code is accepted only for the purpose it was requested for', async () => {
  const { owner, ...operations } = await createAccountFixture(app)
  const { token, clientToken } = owner
  const verify = (method: string, path: string, of: keyof typeof VERIFY_CALLS) => {
    const { id, confirmCode } = operations[of]
    return app.call(method, `${path}/${id}/verify`, { token, body: { confirmCode, clientToken } })
  }
  for (const purpose of PURPOSES) {
    const [method, path] = VERIFY_CALLS[purpose]
    for (const other of PURPOSES.filter((name) => name !== purpose)) {
      expectRefusal(await verify(method, path, other), 'OPERATION_EXPIRED')
    }
  }
  expect((await verify('POST', '/logins', 'login')).status).toBe(200)
  const { id: login } = (await startAt(app, '/logins', { email: owner.email, clientToken })).body
  expect(await register(owner.email, clientToken)).not.toBe(login)
})
