import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import { expect, test } from 'vitest'
import { refresh } from '../../features/sessions/sessions.fixture.ts'
import { startChange, verifyChange } from '../../testing/calls/email-change-calls.ts'
import { clientHeaders, startAt } from '../../testing/calls/sign-in-calls.ts'
import { passSessionTime } from '../../testing/database/passing-time.ts'
import { atOnce } from '../../testing/http/at-once.ts'
import { appForTest, NODES, startTestApp, type TestApp } from '../../testing/test-app.ts'

const trustProxy = ['127.0.0.1']

/** Returns the lines so far with this message. */
function linesOf(app: TestApp, msg: string) {
  return app.logged.map((line) => JSON.parse(line)).filter((line) => line.msg === msg)
}

/** Waits until there are `count` lines with this message, and returns the newest. */
async function lineOf(app: TestApp, msg: string, count = 1) {
  return JSON.parse(await app.logLine(`"msg":"${msg}"`, count))
}

test('each request that the cache does not answer has one line, except health checks: reqId, method, route, status, ms and who called, never the URL', async () => {
  const app = await appForTest()
  const olga = await app.signUp()
  const before = linesOf(app, 'request').length
  const { id } = await app.publish(olga)
  await app.call('GET', `/posts/${id}?secret=in-the-query`)
  await app.call('GET', `/posts/${id}`)
  await app.call('GET', '/nowhere/secret-in-the-path', { token: olga.token })
  await app.call('POST', '/posts', { token: olga.token, body: '{' })
  await app.call('DELETE', `/posts/${id}`, { token: 'bad' })
  await fetch(`${app.url}/livez`)
  await fetch(`${app.url}/readyz`)
  await app.call('DELETE', `/posts/${id}`, { token: olga.token })

  await lineOf(app, 'request', before + 7)
  const requests = linesOf(app, 'request').slice(-7)
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

test('an error of the database is logged with its request, without the row that it quotes, and answered without its words', async () => {
  const app = await appForTest({ config: { logLevel: 'trace' } })
  const { token } = await app.signUp()
  await app.sql`ALTER TABLE posts ADD CHECK (text NOT LIKE 'Канарейка%') NOT VALID`
  const text = 'Канарейка поёт в записи'
  const { status, body } = await app.call('POST', '/posts', { token, body: { text } })
  expect([status, body.code]).toEqual([500, 'INTERNAL_ERROR'])
  expect(JSON.stringify(body)).not.toContain('posts')
  const { reqId } = JSON.parse(await app.logLine('"status":500'))
  const failure = await lineOf(app, 'request failed')
  expect(failure).toMatchObject({ level: 'error', reqId, err: { code: '23514' } })
  expect(app.logged.join('')).not.toContain(text)
})

test('a refused request’s line contains its code and a keyed hash of its network; no address is in the log', async () => {
  const app = await appForTest({ config: { trustProxy } })
  const addresses = ['192.0.2.1', '192.0.2.1', '198.51.100.7', '2001:db8:1:2::1', '2001:db8:1:2::2']
  for (const ip of addresses) await app.call('GET', '/nowhere', clientHeaders(ip))
  await app.call('GET', '/posts', clientHeaders('192.0.2.1'))
  await app.logLine('"msg":"request"', 6)

  const lines = linesOf(app, 'request')
  expect(lines.map(({ status, code }) => `${status} ${code}`)).toEqual([
    ...Array(5).fill('404 NOT_FOUND'),
    '200 undefined',
  ])
  const [first, same, other, six, sixToo, served] = lines.map(({ network }) => network)
  expect(first).toMatch(/^[\w-]{12}$/)
  expect(same).toBe(first)
  expect(sixToo).toBe(six)
  expect(new Set([first, other, six]).size).toBe(3)
  // Served reads are logged without a network.
  expect(served).toBeUndefined()
  expect(app.logged.join('')).not.toMatch(/192\.0\.2|198\.51|2001:db8/)
})

test('a flood of errors of the database is logged in ten lines with their cause, and then in one that counts them', async () => {
  const app = await startTestApp({ config: { trustProxy } })
  try {
    await app.sql`ALTER TABLE report_reasons RENAME TO gone`
    // One after the other, so that each node gets as many.
    const ask = () => app.call('GET', '/reports/reasons', clientHeaders('192.0.2.1'))
    await atOnce(Array(60).fill(ask))
  } finally {
    await app.close()
  }
  const failed = linesOf(app, 'request failed')
  expect(failed).toHaveLength(10 * NODES)
  expect(failed[0].err).toMatchObject({ code: '42P01' })
  const [{ network }] = linesOf(app, 'request')
  const counted = { level: 'warn', network, codes: { INTERNAL_ERROR: 60 / NODES } }
  expect(linesOf(app, 'requests refused')).toMatchObject(Array(NODES).fill(counted))
})

test('registration, sign-in and a change of e-mail are events: who, from which network, and whether by a known client, without addresses', async () => {
  const app = await appForTest({ config: { trustProxy } })
  const email = `event-${randomUUID()}@example.org`
  const { browser } = await app.signIn(email, 'laptop', clientHeaders('192.0.2.1').headers)
  const registered = await lineOf(app, 'registered')
  expect(registered).toMatchObject({ level: 'info', isKnownClient: false })
  await app.signIn(email, 'laptop', clientHeaders('192.0.2.1', browser).headers)
  const { userId, network } = registered
  const again = await lineOf(app, 'signed in')
  expect(again).toMatchObject({ userId, network, isKnownClient: true })
  expect(again.reqId).not.toBe(registered.reqId)
  await app.signIn(email, 'phone', clientHeaders('192.0.2.9').headers)
  const elsewhere = await lineOf(app, 'signed in', 2)
  expect(elsewhere).toMatchObject({ userId, isKnownClient: false })
  expect(elsewhere.network).not.toBe(network)
  expect(linesOf(app, 'registered')).toHaveLength(1)

  const olga = await app.signUp()
  const { id } = (await startChange(app, olga, `moved-${randomUUID()}@example.org`)).body
  await verifyChange(app, olga, id)
  const changed = await lineOf(app, 'e-mail changed')
  expect(changed).toMatchObject({ userId: olga.id, network: expect.stringMatching(/^[\w-]{12}$/) })
  expect(app.logged.join('')).not.toMatch(/192\.0\.2|(?:event|moved)-.*@/)
})

test('a session that an old cookie closed is an event, once', async () => {
  const app = await appForTest()
  const olga = await app.signUp()
  let { cookie } = olga
  for (let time = 0; time < 2; time++) {
    await passSessionTime(app, 601)
    cookie = (await refresh(app, { ...olga, cookie })).cookie ?? ''
    await refresh(app, { ...olga, cookie })
  }
  for (const _ of [1, 2]) expect((await refresh(app, olga)).status).toBe(401)
  const closed = 'session closed: its cookie was copied'
  const event = await lineOf(app, closed)
  expect(event).toMatchObject({ level: 'warn', userId: olga.id, network: expect.any(String) })
  expect(linesOf(app, closed)).toHaveLength(1)
})

test('a tripped limit is an event, once an hour on each node, with the limit and a keyed hash of the network or the user', async () => {
  // A tenth, which comes back a tenth as fast, so that a slow machine counts the same.
  const app = await appForTest({ config: { trustProxy, rateLimitScale: 0.1 } })
  const ask = (email: string, ip: string) => startAt(app, '/logins', { email, ip })
  for (const ip of ['192.0.2.1', '2001:db8:1:2::1']) {
    await Promise.all(Array.from({ length: 15 }, (_, n) => ask(`nobody-${n}@example.org`, ip)))
  }
  await app.logLine('"status":429', 10)
  const tripped = linesOf(app, 'limit tripped').filter((_, at) => at % NODES === 0)
  expect(tripped).toMatchObject([
    { level: 'warn', limit: 'code-request', network: expect.stringMatching(/^[\w-]{12}$/) },
    { level: 'warn', limit: 'code-request', network: expect.any(String), within: '/64' },
  ])
  expect(app.logged.join('')).not.toMatch(/192\.0\.2|2001:db8/)

  const { token } = await app.signUp()
  for (let time = 0; time < 25 * NODES; time++) {
    await app.call('GET', '/users/free_name/validation', { token })
  }
  const ofUser = linesOf(app, 'limit tripped').filter(({ limit }) => limit === 'username-check')
  expect(ofUser).toHaveLength(NODES)
  for (const { limitKey } of ofUser) expect(limitKey).toMatch(/^[\w-]{12}$/)
})
