import { expect, test } from 'vitest'
import { createAccountFixture } from '../../testing/account-fixture.ts'
import { expectRefusal } from '../../testing/expect-refusal.ts'
import { passCodeTime } from '../../testing/passing-time.ts'
import { startAt, verifyAt } from '../../testing/sign-in-calls.ts'
import { appForFile } from '../../testing/test-app.ts'

const app = await appForFile({ config: { codeTtlSeconds: 60 } })

async function register(email: string, sent: { clientToken?: string } = {}): Promise<string> {
  const { status, body } = await startAt(app, '/registrations', { email, ...sent })
  expect(status).toBe(201)
  return body.id
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

test('a code is valid for CODE_TTL_SECONDS, and OPERATION_EXPIRED after them', async () => {
  const early = await register('early@example.org')
  await passCodeTime(app, 50)
  expect((await verifyAt(app, '/registrations', { id: early })).status).toBe(200)
  const late = await register('late@example.org')
  await passCodeTime(app, 61)
  expectRefusal(await verifyAt(app, '/registrations', { id: late }), 'OPERATION_EXPIRED')
})

test('the code of one operation is wrong for another', async () => {
  const [first, id] = [await register('first@example.org'), await register('second@example.org')]
  const crossed = await verifyAt(app, '/registrations', { id, code: app.codeFor(first) })
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
  expect(await register(owner.email, { clientToken })).not.toBe(login)
})
