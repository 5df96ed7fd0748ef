import { expect, test } from 'vitest'
import { BODY_MAX } from '../../../contract/constants.ts'
import { ERRORS } from '../../../contract/errors.ts'
import { DEVICE } from '../../testing/http/client.ts'
import { allEndpoints } from '../../testing/http/endpoints.ts'
import { expectRefusal } from '../../testing/http/expect-refusal.ts'
import { parseRaw, sendRaw } from '../../testing/http/raw-http.ts'
import { appForFile, testPerNode } from '../../testing/test-app.ts'

const app = await appForFile()
const olga = await app.signUp()

const publish = (body: unknown, headers: Record<string, string> = {}) =>
  app.call('POST', '/posts', { token: olga.token, body, headers })

test('a body of 16 KiB is read, one byte more is PAYLOAD_TOO_LARGE', async () => {
  const json = JSON.stringify({ text: 'Впритык' })
  const fits = json + ' '.repeat(BODY_MAX - Buffer.byteLength(json))
  expect((await publish(fits)).status).toBe(201)
  expectRefusal(await publish(`${fits} `), 'PAYLOAD_TOO_LARGE')
  // Without a Content-Length.
  const answer = await sendRaw(
    app.url,
    `POST /api/v1/posts HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAuthorization: Bearer ${olga.token}\r\n` +
      `Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n` +
      `5000\r\n${' '.repeat(0x5000)}\r\n0\r\n\r\n`,
  )
  expectRefusal(parseRaw(answer), 'PAYLOAD_TOO_LARGE')
})

test('a parameter or header value over 100 characters is INVALID_REQUEST', async () => {
  const long = '1'.repeat(101)
  for (const path of [`/posts/${long}`, `/posts?userId=${long}`, `/posts?cursor=${long}`])
    expectRefusal(await app.call('GET', path), 'INVALID_REQUEST')
  expectRefusal(await app.call('GET', `/posts/${long.slice(1)}`), 'POST_NOT_FOUND')
  expectRefusal(await publish({ text: 'А' }, { 'idempotency-key': long }), 'INVALID_REQUEST')
})

const SECURE = 'content-security-policy x-content-type-options referrer-policy'
const GET_POSTS = 'GET /api/v1/posts HTTP/1.1\r\n'

testPerNode('bytes that a balancer would judge before any node').each([
  ['two Host headers that agree', 400, `${GET_POSTS}Host: x\r\nhost: x\r\n\r\n`],
  ['no Host header', 400, `${GET_POSTS}\r\n`],
  ['what is not HTTP', 400, 'HELO mail.example\r\n\r\n'],
  ['headers over 16 KiB', 431, `${GET_POSTS}X: ${'a'.repeat(16 * 1024)}\r\n\r\n`],
  ['an expectation that cannot be met', 417, `${GET_POSTS}Host: x\r\nExpect: tea\r\n\r\n`],
  ['a malformed address', 400, 'GET /api/v1/%zz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n'],
])('%s: %i with every security header, and the connection closed', async (_, status, sent) => {
  const answer = parseRaw(await sendRaw(app.url, sent))
  expect(answer.status).toBe(status)
  expect(answer.body).toEqual({
    code: 'INVALID_REQUEST',
    message: status === 431 ? expect.stringContaining('cookie') : ERRORS.INVALID_REQUEST.message,
  })
  const names = answer.head.split('\r\n').map((line) => line.split(':', 1)[0]?.toLowerCase())
  expect(names).toEqual(
    expect.arrayContaining([...SECURE.split(' '), 'cache-control', 'connection']),
  )
})

test.each([
  { 'content-type': 'text/plain' },
  { 'content-type': 'multipart/form-data; boundary=x' },
  { 'content-type': 'application/jsonp' },
  { 'content-encoding': 'gzip' },
])('a body with %j is UNSUPPORTED_MEDIA_TYPE', async (headers) => {
  expectRefusal(await publish('{"text":"А"}', headers), 'UNSUPPORTED_MEDIA_TYPE')
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

test('JSON may begin with a byte order mark, and its content type may name the charset', async () => {
  const headers = { 'content-type': 'application/json; charset=utf-8' }
  expect((await publish('\ufeff{"text":"А"}', headers)).status).toBe(201)
})

test.each([
  ...['{', "{'text':'А'}", '{"text":"А"} {}', 'NaN', ''],
  ...['null', '[]', '"А"', '{}', '{"text":null}', '{"text":7}', '{"text":["А"]}'],
  '{"text":"А","owner_id":1}',
  '{"text":"А","__proto__":{"x":1}}',
  '{"__proto__":{"text":"А"}}',
  '{"text":"А","constructor":{"prototype":{"x":1}}}',
])('the body %s breaks the contract: INVALID_REQUEST, nothing coerced or ignored', async (body) => {
  expectRefusal(await publish(body), 'INVALID_REQUEST')
  expect(Object.hasOwn(Object.prototype, 'x')).toBe(false)
})

test('a refused field or query parameter is named in the message, with its bound', async () => {
  const { token } = olga
  const { id } = await app.publish(olga)
  const start = { email: 'a@example.org', clientToken: 'c', device: { ...DEVICE, model: 'X' } }
  const { os: _, ...device } = DEVICE
  const withoutSystem = { ...start, device }
  for (const [method, path, body, message] of [
    ['POST', '/posts', { Text: 'А' }, 'Неизвестное поле «Text»'],
    ['POST', '/posts', { text: 7 }, 'Недопустимое значение поля «text»'],
    ['POST', '/posts', {}, 'Не хватает поля «text»'],
    ['GET', '/posts?limit=0', undefined, 'Недопустимое значение параметра «limit»: наименьшее — 1'],
    [
      'GET',
      '/posts?limit=51',
      undefined,
      'Недопустимое значение параметра «limit»: наибольшее — 50',
    ],
    ['GET', '/posts?limit=1&limit=2', undefined, 'Недопустимое значение параметра «limit»'],
    ['GET', '/posts?limit=x', undefined, 'Недопустимое значение параметра «limit»'],
    ['GET', '/posts?filter=mine', undefined, 'Недопустимое значение параметра «filter»'],
    ['GET', '/posts?cursor=x', undefined, 'Недопустимое значение параметра «cursor»'],
    ['GET', '/posts/search?q=дом&cursor=x', undefined, 'Недопустимое значение параметра «cursor»'],
    ['GET', '/posts?cursor=newest-1&page=1', undefined, 'Укажите или «page», или «cursor»'],
    ['POST', `/posts/${id}/reports`, undefined, 'Не хватает параметра «reason_id»'],
    ['POST', '/logins', withoutSystem, 'Не хватает поля «device.os»'],
    ['POST', '/logins', start, 'Неизвестное поле «device.model»'],
    ['DELETE', `/posts/${id}`, { why: 1 }, 'Неизвестное поле «why»'],
    ['GET', `/posts?limit=5&sort=new${'x'.repeat(100)}`, undefined, 'Неизвестный параметр «sort»'],
    ['GET', `/posts?${'x'.repeat(100)}=1`, undefined, `Неизвестный параметр «${'x'.repeat(50)}»`],
  ] as const) {
    const answer = await app.call(method, path, { token, ...(body && { body }) })
    expectRefusal(answer, 'INVALID_REQUEST')
    expect(answer.body.message).toBe(message)
  }
})

test.each(['GET', 'OPTIONS'])('%s /nope is no call of the API: NOT_FOUND', async (method) => {
  expectRefusal(await app.call(method, '/nope'), 'NOT_FOUND')
})

test.each([
  ['PUT', '/posts', 'GET, HEAD, POST, OPTIONS'],
  ['PUT', '/p%6Fsts', 'GET, HEAD, POST, OPTIONS'],
  ['GET', '/registrations', 'POST, OPTIONS'],
  ['PUT', '/posts/search', 'GET, HEAD, OPTIONS'],
  ['PUT', '/posts/12', 'GET, HEAD, PATCH, DELETE, OPTIONS'],
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

test('a path parameter with a control character is INVALID_REQUEST for every endpoint', async () => {
  for (const { method, path, params, body, access } of (await allEndpoints()).values()) {
    if (!params || access === 'moderator') continue
    // Valid, so that only the parameter can be refused.
    const code = { confirmCode: '123456', clientToken: olga.clientToken }
    const valid = path.endsWith('/verify') ? code : { text: 'А' }
    const sent = { token: olga.token, ...(body && { body: valid }) }
    for (const value of ['%00', 'a%00b', '%1b']) {
      const answer = await app.call(method, path.replace(/:\w+/, value), sent)
      expect(answer.status, `${method} ${path}`).toBe(400)
      expect(['INVALID_REQUEST', 'INVALID_USERNAME']).toContain(answer.body.code)
    }
  }
})

test('no answer allows requests from another origin', async () => {
  const headers = { origin: 'https://evil.example', 'access-control-request-method': 'POST' }
  for (const method of ['GET', 'OPTIONS']) {
    const answer = await app.call(method, '/posts', { headers })
    expect([...answer.headers.keys()].join()).not.toContain('access-control')
  }
})
