import { beforeAll, expect, test } from 'vitest'
import { BODY_MAX } from '../../../contract/constants.ts'
import { ERRORS } from '../../../contract/errors.ts'
import { DEVICE, type TestUser } from '../../testing/client.ts'
import { allEndpoints } from '../../testing/endpoints.ts'
import { expectRefusal } from '../../testing/expect-refusal.ts'
import { parseRaw, sendRaw } from '../../testing/raw-http.ts'
import { appForFile, testPerNode } from '../../testing/test-app.ts'

const app = await appForFile()
let olga: TestUser
beforeAll(async () => {
  olga = await app.signUp()
})

const publish = (body: unknown, headers: Record<string, string> = {}) =>
  app.call('POST', '/posts', { token: olga.token, body, headers })

test('every error of the contract has a Russian sentence', () => {
  for (const { message } of Object.values(ERRORS))
    expect(message).toMatch(/^[А-ЯЁ][а-яё ].* .*[а-яё]/)
})

test('a body of 16 KiB is read, one byte more is PAYLOAD_TOO_LARGE', async () => {
  const json = JSON.stringify({ text: 'Впритык' })
  const fits = json + ' '.repeat(BODY_MAX - Buffer.byteLength(json))
  expect((await publish(fits)).status).toBe(201)
  expectRefusal(await publish(`${fits} `), 'PAYLOAD_TOO_LARGE')
})

test('a body over 16 KiB without a Content-Length is PAYLOAD_TOO_LARGE too', async () => {
  const answer = await sendRaw(
    app.url,
    `POST /api/v1/posts HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAuthorization: Bearer ${olga.token}\r\n` +
      `Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n` +
      `5000\r\n${' '.repeat(0x5000)}\r\n0\r\n\r\n`,
  )
  expectRefusal(parseRaw(answer), 'PAYLOAD_TOO_LARGE')
})

test('a path parameter over 100 characters is NOT_FOUND, a query or header value INVALID_REQUEST', async () => {
  const long = '1'.repeat(101)
  expectRefusal(await app.call('GET', `/posts/${long}`), 'NOT_FOUND')
  expectRefusal(await app.call('GET', `/posts/${long.slice(1)}`), 'POST_NOT_FOUND')
  expectRefusal(await app.call('GET', `/posts?userId=${long}`), 'INVALID_REQUEST')
  expectRefusal(await app.call('GET', `/posts?cursor=${long}`), 'INVALID_REQUEST')
  expectRefusal(await publish({ text: 'А' }, { 'idempotency-key': long }), 'INVALID_REQUEST')
})

const SECURE = [
  'content-security-policy',
  'x-content-type-options',
  'referrer-policy',
  'cross-origin-opener-policy',
]
const GET_POSTS = 'GET /api/v1/posts HTTP/1.1\r\n'

testPerNode('bytes that a balancer would judge before any node').each([
  ['two Host headers', 400, `${GET_POSTS}Host: x\r\nHost: y\r\n\r\n`],
  ['two Host headers that agree', 400, `${GET_POSTS}Host: x\r\nhost: x\r\n\r\n`],
  ['no Host header', 400, `${GET_POSTS}\r\n`],
  ['what is not HTTP', 400, 'HELO mail.example\r\n\r\n'],
  ['headers over 16 KiB', 431, `${GET_POSTS}X: ${'a'.repeat(16 * 1024)}\r\n\r\n`],
  ['an expectation that cannot be met', 417, `${GET_POSTS}Host: x\r\nExpect: tea\r\n\r\n`],
  [
    'a malformed address',
    400,
    'GET /api/v1/posts/%zz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n',
  ],
])('%s: %i with every security header, and the connection closed', async (_, status, sent) => {
  const answer = parseRaw(await sendRaw(app.url, sent))
  expect(answer.status).toBe(status)
  expect(answer.body).toEqual({
    code: 'INVALID_REQUEST',
    message: status === 431 ? expect.stringContaining('cookie') : ERRORS.INVALID_REQUEST.message,
  })
  const names = answer.head.split('\r\n').map((line) => line.split(':', 1)[0]?.toLowerCase())
  expect(names).toEqual(expect.arrayContaining([...SECURE, 'cache-control', 'connection']))
})

test.each([
  'text/plain',
  'application/x-www-form-urlencoded',
  'multipart/form-data; boundary=x',
  'application/xml',
  'application/jsonp',
  'nonsense',
])('a body of type %s is UNSUPPORTED_MEDIA_TYPE', async (type) => {
  expectRefusal(await publish('{"text":"А"}', { 'content-type': type }), 'UNSUPPORTED_MEDIA_TYPE')
})

test.each([
  ['Transfer-Encoding: chunked', '0\r\n\r\n'],
  ['Transfer-Encoding: chunked\r\nContent-Type: text/plain', '0\r\n\r\n'],
  ['Content-Length: 0\r\nContent-Type: application/x-www-form-urlencoded', ''],
])('an empty body counts as none: %s', async (head, body) => {
  const { id } = await app.publish(olga, 'Нравится')
  const call = `POST /api/v1/posts/${id}/likes HTTP/1.1\r\nHost: x\r\nConnection: close\r\n`
  const token = `Authorization: Bearer ${olga.token}\r\n`
  const answer = await sendRaw(app.url, `${call}${token}${head}\r\n\r\n${body}`)
  expect(answer).toMatch(/^HTTP\/1\.1 200 /)
})

test('a body in chunks of another type is refused at its first byte', async () => {
  const head = 'POST /api/v1/logins HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n'
  const answer = await sendRaw(app.url, `${head}Content-Type: text/plain\r\n\r\n1\r\n{\r\n`)
  expect(answer).toMatch(/^HTTP\/1\.1 415 /)
})

test('JSON may begin with a byte order mark', async () => {
  expect((await publish('\ufeff{"text":"А"}')).status).toBe(201)
})

test('the content type of JSON may name its charset', async () => {
  const headers = { 'content-type': 'application/json; charset=utf-8' }
  expect((await publish('{"text":"А"}', headers)).status).toBe(201)
})

test.each(['{', '{"text":"А"', '{"text":"А"} {}', "{'text':'А'}", 'text=А', 'undefined', 'NaN'])(
  'the body %s is no JSON: INVALID_REQUEST',
  async (body) => {
    expectRefusal(await publish(body), 'INVALID_REQUEST')
  },
)

test.each([
  '',
  'null',
  '[]',
  '"А"',
  '7',
  '{}',
  '{"text":null}',
  '{"text":7}',
  '{"text":["А"]}',
  '{"text":{"a":1}}',
  '{"text":true}',
  '{"Text":"А"}',
  '{"text":"А","id":"1"}',
  '{"text":"А","owner_id":1}',
  '{"text":"А","__proto__":{"x":1}}',
  '{"__proto__":{"text":"А"}}',
  '{"text":"А","constructor":{"prototype":{"x":1}}}',
])('the body %s breaks the contract: INVALID_REQUEST, nothing coerced or ignored', async (body) => {
  expectRefusal(await publish(body), 'INVALID_REQUEST')
  expect(Object.hasOwn(Object.prototype, 'x')).toBe(false)
})

test('a refused unknown field or query parameter is named in the message', async () => {
  const message = async (answer: ReturnType<typeof publish>) => {
    expectRefusal(await answer, 'INVALID_REQUEST')
    return (await answer).body.message
  }
  const { token } = olga
  expect(await message(publish({ text: 'А', id: '1' }))).toBe('Неизвестное поле «id»')
  expect(await message(publish({ Text: 'А' }))).toBe('Неизвестное поле «Text»')
  expect(await message(publish({ text: 7 }))).toBe(ERRORS.INVALID_REQUEST.message)
  const device = { ...DEVICE, model: 'X' }
  const start = { email: 'a@example.org', clientToken: 'c', device }
  expect(await message(app.call('POST', '/logins', { body: start }))).toBe(
    'Неизвестное поле «device.model»',
  )
  const { id } = await app.publish(olga)
  expect(await message(app.call('DELETE', `/posts/${id}`, { token, body: { why: 1 } }))).toBe(
    'Неизвестное поле «why»',
  )
  const list = app.call('GET', `/posts?limit=5&sort=new${'x'.repeat(100)}`)
  expect(await message(list)).toBe(`Неизвестный параметр «sort»`)
  expect(await message(app.call('GET', `/posts?${'x'.repeat(100)}=1`))).toBe(
    `Неизвестный параметр «${'x'.repeat(50)}»`,
  )
})

test.each([
  ['GET', '/nope'],
  ['GET', '/posts/1/nope'],
  ['OPTIONS', '/nope'],
])('%s %s is no call of the API: NOT_FOUND', async (method, path) => {
  expectRefusal(await app.call(method, path), 'NOT_FOUND')
})

test.each([
  ['PUT', '/posts', 'GET, HEAD, POST, OPTIONS'],
  ['PUT', '/p%6Fsts', 'GET, HEAD, POST, OPTIONS'],
  ['POST', '/posts/1', 'GET, HEAD, PATCH, DELETE, OPTIONS'],
  ['GET', '/registrations', 'POST, OPTIONS'],
])(
  '%s %s is METHOD_NOT_ALLOWED, and the answer says what is allowed',
  async (method, path, allow) => {
    const answer = await app.call(method, path)
    expectRefusal(answer, 'METHOD_NOT_ALLOWED')
    expect(answer.headers.get('allow')).toBe(allow)
    const options = await app.call('OPTIONS', path)
    expect([options.status, options.headers.get('allow')]).toEqual([204, allow])
  },
)

test('OPTIONS * asks for the methods of the whole server', async () => {
  const answer = await sendRaw(
    app.url,
    'OPTIONS * HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n',
  )
  expect(answer).toMatch(/^HTTP\/1\.1 204 .*\r\nallow: GET, HEAD, [A-Z, ]*OPTIONS\r\n/s)
})

test('a compressed body is UNSUPPORTED_MEDIA_TYPE', async () => {
  const headers = { 'content-encoding': 'gzip' }
  const body = { email: 'olga@example.org', clientToken: 'a', device: DEVICE }
  expectRefusal(await app.call('POST', '/logins', { body, headers }), 'UNSUPPORTED_MEDIA_TYPE')
})

test.each(['/posts/%', '/posts/%zz', '/posts/%ff', '/posts/%c0%af'])(
  'the malformed address %s is INVALID_REQUEST',
  async (path) => {
    expectRefusal(await app.call('GET', path), 'INVALID_REQUEST')
  },
)

test('a path parameter with a control character is INVALID_REQUEST for every endpoint', async () => {
  for (const { method, path, params, body, access } of (await allEndpoints()).values()) {
    if (!params || access === 'moderator') continue
    const sent = { token: olga.token, ...(body && { body: { text: 'А' } }) }
    for (const value of ['%00', 'a%00b', '%1b']) {
      const answer = await app.call(method, path.replace(/:\w+/, value), sent)
      expect(answer.status, `${method} ${path}`).toBe(400)
      expect(['INVALID_REQUEST', 'INVALID_USERNAME']).toContain(answer.body.code)
    }
  }
})

test.each([
  ['POST', '/logins/%00/verify'],
  ['POST', '/registrations/%00/verify'],
  ['PUT', '/users/current/email/%00/verify'],
])(
  '%s %s with a valid body is INVALID_REQUEST, not an error of the database',
  async (method, path) => {
    const body = { confirmCode: '123456', clientToken: olga.clientToken }
    expectRefusal(await app.call(method, path, { token: olga.token, body }), 'INVALID_REQUEST')
  },
)

test('a visitor’s call that needs a user is UNAUTHORIZED before its body is validated', async () => {
  expectRefusal(await app.call('POST', '/posts', { body: '{' }), 'UNAUTHORIZED')
})

test('no answer allows requests from another origin', async () => {
  const headers = { origin: 'https://evil.example', 'access-control-request-method': 'POST' }
  for (const method of ['GET', 'OPTIONS']) {
    const answer = await app.call(method, '/posts', { headers })
    expect([...answer.headers.keys()].filter((name) => name.startsWith('access-control'))).toEqual(
      [],
    )
  }
})
