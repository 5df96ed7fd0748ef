import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import { expect, test } from 'vitest'
import { startChange, verifyChange } from '../../testing/calls/email-change-calls.ts'
import { startAt, verifyAt, wrongCode } from '../../testing/calls/sign-in-calls.ts'
import type { TestUser } from '../../testing/http/client.ts'
import { appForTest, type TestApp } from '../../testing/test-app.ts'

const REQUEST = '"msg":"request"'
const TEXT = 'Канарейка поёт в записи'

/** Resolves to every line of the log once it contains so many requests. */
async function linesAfter(app: TestApp, requests: number) {
  await app.logLine(REQUEST, requests)
  return app.logged.map((line) => JSON.parse(line))
}

test('each request that the cache does not answer has one line, except health checks: reqId, method, route, status, ms and who called, never the URL', async () => {
  const app = await appForTest()
  const olga = await app.signUp()
  const before = app.logged.filter((line) => line.includes(REQUEST)).length
  const { id } = await app.publish(olga)
  await app.call('GET', `/posts/${id}?secret=in-the-query`)
  await app.call('GET', `/posts/${id}`)
  await app.call('GET', '/nowhere/secret-in-the-path', { token: olga.token })
  await app.call('POST', '/posts', { token: olga.token, body: '{' })
  await app.call('DELETE', `/posts/${id}`, { token: 'bad' })
  await fetch(`${app.url}/livez`)
  await fetch(`${app.url}/readyz`)
  await app.call('DELETE', `/posts/${id}`, { token: olga.token })

  const requests = (await linesAfter(app, before + 7))
    .filter(({ msg }) => msg === 'request')
    .slice(-7)
  const by = { userId: olga.id }
  const post = '/api/v1/posts/:id'
  const posts = '/api/v1/posts'
  expect(requests).toMatchObject([
    { method: 'POST', route: posts, status: 201, ...by, postId: id },
    { method: 'GET', route: post, status: 200 },
    { method: 'GET', route: post, status: 200 },
    { method: 'GET', route: null, status: 404 },
    { method: 'POST', route: posts, status: 400, ...by },
    { method: 'DELETE', route: post, status: 401 },
    { method: 'DELETE', route: post, status: 204, ...by, postId: id },
  ])
  for (const line of requests) {
    expect(line).toMatchObject({ level: 'info', reqId: expect.stringMatching(/^req-[0-9a-f]{8}-/) })
    expect(line.node).toBe(hostname())
    expect(line.ms).toBeGreaterThanOrEqual(0)
    expect(new Date(line.time).getTime()).toBeGreaterThan(Date.now() - 60_000)
  }
  expect(requests.filter(({ postId }) => postId !== undefined)).toHaveLength(2)
  expect(requests.filter(({ userId }) => userId === undefined)).toHaveLength(4)
  expect(new Set(requests.map(({ reqId }) => reqId)).size).toBe(7)
  expect(app.logged.join('')).not.toMatch(/secret-in|in-the-query|livez|readyz/)
})

test('no code, cookie, token, whole e-mail, clientToken, operation id or post text is ever in the log, even at its most verbose level', async () => {
  const app = await appForTest({ config: { logLevel: 'trace' } })
  const canaries = await journey(app)
  await breakStatements(app, canaries.user)
  await app.logLine('"msg":"mail sent"', 2)

  const log = app.logged.join('')
  expect(log).toContain('"status":500')
  expect(log).toContain('"code":"23514"')
  for (const [name, values] of Object.entries(canaries.secrets)) {
    expect(values.length, name).toBeGreaterThan(0)
    for (const value of values) {
      expect(value.length, name).toBeGreaterThan(5)
      expect(log.includes(value), `${name} ${value} in the log`).toBe(false)
      expect(log.includes(encodeURIComponent(value)), `${name} ${value} in the log`).toBe(false)
    }
  }
})

test('a mail that cannot be sent is logged without the code and with a masked address', async () => {
  // Nothing listens on port 1.
  const app = await appForTest({ config: { smtpUrl: 'smtp://127.0.0.1:1', logLevel: 'trace' } })
  const email = `canary-${randomUUID()}@example.org`
  const sent = { email, clientToken: randomUUID() }
  const { id } = (await startAt(app, '/registrations', sent)).body
  expect(JSON.parse(await app.logLine('mail not sent'))).toMatchObject({ to: 'c***@example.org' })
  for (const secret of [email, id, app.codeFor(id), sent.clientToken]) {
    expect(app.logged.join('')).not.toContain(secret)
  }
})

/** Does everything that a user can do once, with failures; returns what must not be in the log. */
async function journey(app: TestApp) {
  const email = `canary-${randomUUID()}@example.org`
  const newEmail = `canary-${randomUUID()}@example.org`
  const clientToken = `canary-client-${randomUUID()}`
  const operation = (await startAt(app, '/registrations', { email, clientToken })).body.id
  const code = app.codeFor(operation)
  const verify = (entered: string, client = clientToken) =>
    verifyAt(app, '/registrations', { id: operation, code: entered, clientToken: client })
  await verify('000000', `canary-other-${randomUUID()}`)
  await verify(wrongCode(code))
  const { body, cookie = '' } = await verify(code)
  await verify(code)
  await startAt(app, '/logins', { email: newEmail, clientToken })
  await startAt(app, '/logins', { email: `${email} x`, clientToken })

  const token: string = body.accessToken.token
  const account = (await app.call('GET', '/users/current', { token })).body
  const user: TestUser = { ...account, token, cookie, clientToken }
  const headers = { cookie }
  const refresh = await app.call('PATCH', '/sessions/current', { body: { clientToken }, headers })
  await app.call('PATCH', '/sessions/current', { body: { clientToken: 'canary-x' }, headers })
  const moved = (await startChange(app, user, newEmail)).body.id
  await verifyChange(app, user, moved)
  const change = `canary-change-${randomUUID()}`
  const secret = `canary-secret-${randomUUID()}`
  await app.call('POST', `/email-changes/${change}/undo`, { body: { secret } })

  const key = `canary-key-${randomUUID()}`
  const sent = { token, body: { text: TEXT }, headers: { 'idempotency-key': key } }
  const { id } = (await app.call('POST', '/posts', sent)).body
  await app.call('PATCH', `/posts/${id}`, { token, body: { text: `${TEXT} опять` } })
  await app.call('POST', `/posts/${id}/replies`, { token, body: { text: TEXT } })
  await app.call('POST', '/posts', { token, body: `{"text":"${TEXT}` })
  await app.call('POST', '/posts', { token, body: { text: TEXT, [TEXT]: TEXT } })
  await app.call('POST', '/posts', { token, body: { text: TEXT.repeat(99) } })
  await app.call('POST', `/posts/${id}/likes`, { token })
  await app.call('GET', `/posts?cursor=${token.slice(0, 90)}`, { token })
  await app.call('GET', `/${token}/${operation}`, { token: `${token}x` })
  await app.call('GET', `/sessions/${encodeURIComponent(email)}`, { headers })
  return {
    user,
    secrets: {
      code: [code, app.codeFor(moved)],
      cookie: [cookie, cookie.split('.').at(-1) ?? ''],
      token: [token, token.split('.').at(-1) ?? '', refresh.body.accessToken.token],
      email: [email, newEmail],
      clientToken: [clientToken, 'canary-other-', 'canary-x'],
      operation: [operation, moved],
      'undo link': [change, secret],
      text: [TEXT],
      'idempotency key': [key],
    },
  }
}

/** Makes the database refuse a row: its error quotes that row. */
async function breakStatements(app: TestApp, { token }: TestUser): Promise<void> {
  await app.sql`ALTER TABLE posts ADD CHECK (text NOT LIKE 'Канарейка%') NOT VALID`
  const broken = await app.call('POST', '/posts', { token, body: { text: TEXT } })
  expect(broken).toMatchObject({ status: 500, body: { code: 'INTERNAL_ERROR' } })
  const failure = JSON.parse(await app.logLine('request failed'))
  const request = JSON.parse(await app.logLine('"status":500'))
  expect(failure).toMatchObject({ level: 'error', reqId: request.reqId })
  expect(JSON.stringify(broken.body)).not.toContain('posts')
  await app.sql`ALTER TABLE report_reasons RENAME TO gone`
  expect((await app.call('GET', '/reports/reasons')).status).toBe(500)
}
