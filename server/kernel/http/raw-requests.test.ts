import { expect } from 'vitest'
import { DEVICE } from '../../testing/http/client.ts'
import { openSocket, readToEnd, sendRaw } from '../../testing/http/raw-http.ts'
import { appForFile, testPerNode } from '../../testing/test-app.ts'

const test = testPerNode('bytes that a balancer would judge before any node')

const app = await appForFile()

const JSON_TYPE = 'Content-Type: application/json\r\n'
const SMUGGLED = 'GET /api/v1/posts HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n'
const head = (start: string, length = SMUGGLED.length) =>
  `${start} HTTP/1.1\r\nHost: x\r\n${JSON_TYPE}Content-Length: ${length}\r\n`

/** Answers that need nothing of the body. */
const EARLY: [name: string, status: number, sent: string][] = [
  ['a call without a token', 401, head('POST /api/v1/posts')],
  ['what nothing serves', 404, head('POST /nope')],
  ['a malformed address', 400, head('POST /api/v1/posts/%zz')],
  ['a body that is too long', 413, head('POST /api/v1/logins', 20_000)],
  ['a body of another type', 415, head('POST /api/v1/logins').replace('json', 'xml')],
  ['a visitor’s read', 200, head('GET /api/v1/posts')],
  ['a visitor’s cached read', 200, head('GET /api/v1/posts')],
  ['a check of health', 200, head('GET /livez')],
]

test.for(EARLY)(
  '%s is %i before its body has come, and closes the connection: what follows is no request',
  async ([, status, sent]) => {
    const socket = await openSocket(app.url)
    const read = readToEnd(socket)
    socket.on('error', () => {})
    socket.write(`${sent}\r\n`)
    socket.once('data', () => socket.write(SMUGGLED))
    const answers = await read
    expect(answers).toMatch(new RegExp(`^HTTP/1.1 ${status} `))
    expect(answers).toMatch(/^connection: close\r$/im)
    expect(answers.match(/HTTP\/1.1 /g)).toHaveLength(1)
  },
)

test('an answer after the body was read keeps the connection, a refusal as well', async () => {
  const nobody = { email: 'nobody@example.org', clientToken: 'one browser', device: DEVICE }
  const bodies = [JSON.stringify(nobody), '{"email":"nobody@example.org"}']
  const sent = bodies.map((body) => `${head('POST /api/v1/logins', body.length)}\r\n${body}`)
  const answers = await sendRaw(app.url, sent.join('') + SMUGGLED)
  const statuses = [...answers.matchAll(/HTTP\/1.1 (\d+) /g)].map(([, status]) => Number(status))
  expect(statuses).toEqual([404, 400, 200])
  expect(answers.match(/^connection: keep-alive\r$/gim)).toHaveLength(2)
})

const locationOf = (answer: string) => /^location: (.*)$/m.exec(answer)?.[1]?.trim()

test.each(['/robots.txt#top', 'http://localhost/robots.txt#top', 'http://localhost/api/v1/posts'])(
  'a target in absolute form is its path, and a fragment is not the server’s: %s',
  async (target) => {
    const bytes = `GET ${target} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`
    expect(await sendRaw(app.url, bytes)).toMatch(/^HTTP\/1\.1 200 /)
  },
)

test.each([
  ['GET', 'http://localhost/search?q=Рим', '/search?q=%D0%A0%D0%B8%D0%BC'],
  ['HEAD', '/я?a=%20&b="<', '/%D1%8F?a=%20&b="<'],
])('%s with raw UTF-8 is sent to the percent-encoded address: %s', async (method, raw, encoded) => {
  const answer = await sendRaw(app.url, `${method} ${raw} HTTP/1.1\r\nHost: localhost\r\n\r\n`)
  expect(answer).toMatch(/^HTTP\/1\.1 308 Permanent Redirect\r\n/)
  expect(answer).toMatch(/\r\n\r\n$/)
  expect(answer).toContain('content-security-policy: ')
  expect(locationOf(answer)).toBe(encoded)
})

test.each([
  ['another method', 'POST /я HTTP/1.1\r\nHost: localhost\r\n\r\n'],
  ['another site', 'GET //evil.example/я HTTP/1.1\r\nHost: localhost\r\n\r\n'],
  ['another site by a backslash', 'GET /\\evil.example/я HTTP/1.1\r\nHost: localhost\r\n\r\n'],
  ['a line break alone', 'GET /я\nX: y HTTP/1.1\r\nHost: localhost\r\n\r\n'],
  ['a long address', `GET /${'я'.repeat(2000)} HTTP/1.1\r\nHost: localhost\r\n\r\n`],
])('raw bytes of %s are refused', async (_what, bytes) => {
  const answer = await sendRaw(app.url, bytes)
  expect(answer).toMatch(/^HTTP\/1\.1 400 /)
  expect(locationOf(answer)).toBeUndefined()
})

test('a raw target behind a request that is not answered is refused', async () => {
  const answer = await sendRaw(
    app.url,
    'GET /api/v1/posts HTTP/1.1\r\nHost: localhost\r\n\r\nGET /я HTTP/1.1\r\nHost: localhost\r\n\r\n',
  )
  expect(locationOf(answer)).toBeUndefined()
})
