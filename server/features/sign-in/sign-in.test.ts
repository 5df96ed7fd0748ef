import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { expectRefusal } from '../../testing/expect-refusal.ts'
import { countCodes, startAt, verifyAt, wrongCode } from '../../testing/sign-in-calls.ts'
import { appForFile, appForTest } from '../../testing/test-app.ts'

const app = await appForFile()

test('a registration creates an account with a free generated username and opens a session', async () => {
  const { status, body } = await startAt(app, '/registrations', { email: 'new@example.org' })
  expect(status).toBe(201)
  const verified = await verifyAt(app, '/registrations', { id: body.id })
  expect(verified.status).toBe(200)
  expect(verified.cookie).toMatch(/^session=/)
  const { token } = verified.body.accessToken
  const { body: user } = await app.call('GET', '/users/current', { token })
  expect(user).toEqual({
    id: expect.any(String),
    username: expect.stringMatching(/^[A-Za-z0-9_]{5,32}$/),
    email: 'new@example.org',
  })
})

test('no account exists before the code is verified', async () => {
  const { body } = await startAt(app, '/registrations', { email: 'unproven@example.org' })
  const code = wrongCode(app.codeFor(body.id))
  await verifyAt(app, '/registrations', { id: body.id, code })
  expectRefusal(await startAt(app, '/logins', { email: 'unproven@example.org' }), 'USER_NOT_FOUND')
})

test('a registration with a known e-mail looks like any other and, once verified, signs in as a login does', async () => {
  const user = await app.signIn('known@example.org')
  const known = await startAt(app, '/registrations', { email: user.email })
  const unknown = await startAt(app, '/registrations', { email: 'not-known@example.org' })
  expect(known.status).toBe(unknown.status)
  expect(known.body.id).toHaveLength(unknown.body.id.length)

  for (const path of ['/registrations', '/logins'] as const) {
    const { id } = (await startAt(app, path, { email: user.email })).body
    const { body } = await verifyAt(app, path, { id })
    const { token } = body.accessToken
    expect((await app.call('GET', '/users/current', { token })).body.id).toBe(user.id)
  }
  const { body } = await app.call('GET', '/sessions', { token: user.token })
  expect(body.sessions).toHaveLength(3)
})

test('one e-mail registered from five browsers concurrently becomes one account', async () => {
  const email = 'race@example.org'
  const browsers = Array.from({ length: 5 }, (_, index) => `browser ${index}`)
  const starts = await Promise.all(
    browsers.map((clientToken) => startAt(app, '/registrations', { email, clientToken })),
  )
  const answers = await Promise.all(
    starts.map(({ body: { id } }, index) => {
      const clientToken = browsers[index] ?? ''
      return verifyAt(app, '/registrations', { id, clientToken })
    }),
  )
  expect(countCodes(answers)).toEqual({ ok: 5 })
  const accounts = app.db.selectFrom('users').select('id').where('email', '=', email)
  expect(await accounts.execute()).toHaveLength(1)
})

test('the log contains no code, cookie, token, clientToken or whole e-mail', async () => {
  const quiet = await appForTest({ config: { logLevel: 'trace' } })
  const user = await quiet.signIn('whole.address@example.org', 'fingerprint-of-olga')
  const { clientToken, cookie, token } = user
  const login = await startAt(quiet, '/logins', { email: user.email, clientToken })
  const { id } = login.body
  await verifyAt(quiet, '/logins', { id, code: wrongCode(quiet.codeFor(id)), clientToken })
  await quiet.call('PATCH', '/sessions/current', { body: { clientToken }, headers: { cookie } })
  await quiet.logLine('mail sent', 2)

  // Without times, whose digits could match by chance.
  const log = quiet.logged.join('').replaceAll(/"time":\d+/g, '')
  expect(log).toContain('/api/v1/logins/:id/verify')
  expect(log).toContain('w***@example.org')
  const [, secret] = cookie.split('.')
  for (const kept of [user.email, clientToken, token, secret, quiet.codeFor(id), id]) {
    expect(log).not.toContain(kept)
  }
})

test('a registration keeps when and to which text the person consented, and that text', async () => {
  const { id } = await app.signUp()
  const { rows } = await sql<{ version: string; text: string; at: Date }>`
    SELECT consent_version AS version, text, consented_at AS at FROM users
    JOIN consent_texts ON version = consent_version WHERE id = ${id}`.execute(app.db)
  expect(rows).toEqual([
    {
      version: expect.stringMatching(/^[0-9a-f]{12}$/),
      text: expect.stringContaining('я даю согласие'),
      at: expect.any(Date),
    },
  ])
})
