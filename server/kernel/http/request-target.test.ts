import { once } from 'node:events'
import { expect, test } from 'vitest'
import { openSocket, readToEnd, sendRaw } from '../../testing/raw-http.ts'
import { appForFile, testPerNode } from '../../testing/test-app.ts'

const app = await appForFile()

const get = (target: string) =>
  sendRaw(app.url, `GET ${target} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`)

test.each(['/api/v1/posts', '/feed.atom', '/robots.txt'])(
  'a target in absolute form is its path: %s',
  async (path) => {
    expect(await get(`http://localhost${path}`)).toMatch(/^HTTP\/1\.1 200 /)
  },
)

test('If-None-Match: * is answered with 304 where there is something', async () => {
  const { status } = await fetch(`${app.url}/feed.atom`, { headers: { 'if-none-match': '*' } })
  expect(status).toBe(304)
})

const locationOf = (answer: string) => /^location: (.*)$/m.exec(answer)?.[1]?.trim()

const perNode = testPerNode('bytes that a balancer would judge before any node')

perNode.each([
  ['/robots.txt#top', /^HTTP\/1\.1 200 /],
  ['http://localhost/robots.txt#top', /^HTTP\/1\.1 200 /],
  ['/api/v1/posts#replies', /^HTTP\/1\.1 200 /],
])('a fragment is not the server’s: %s', async (target, answer) => {
  expect(await get(target)).toMatch(answer)
})

perNode.each([
  ['GET', '/search?q=Рим', '/search?q=%D0%A0%D0%B8%D0%BC'],
  ['GET', 'http://localhost/search?q=Рим', '/search?q=%D0%A0%D0%B8%D0%BC'],
  ['HEAD', '/я?a=%20&b="<', '/%D1%8F?a=%20&b="<'],
])('%s with raw UTF-8 is sent to the percent-encoded address: %s', async (method, raw, encoded) => {
  const answer = await sendRaw(app.url, `${method} ${raw} HTTP/1.1\r\nHost: localhost\r\n\r\n`)
  expect(answer).toMatch(/^HTTP\/1\.1 308 Permanent Redirect\r\n/)
  expect(answer).toMatch(/\r\n\r\n$/)
  expect(answer).toContain('content-security-policy: ')
  expect(locationOf(answer)).toBe(encoded)
})

perNode('a connection in use is answered so too', async () => {
  const socket = await openSocket(app.url)
  socket.write('GET /robots.txt HTTP/1.1\r\nHost: localhost\r\n\r\n')
  await once(socket, 'data')
  socket.write('GET /я HTTP/1.1\r\nHost: localhost\r\n\r\n')
  expect(locationOf(await readToEnd(socket))).toBe('/%D1%8F')
})

test.each([
  ['another method', 'POST /я HTTP/1.1\r\nHost: localhost\r\n\r\n'],
  ['another site', 'GET //evil.example/я HTTP/1.1\r\nHost: localhost\r\n\r\n'],
  ['another site by a backslash', 'GET /\\evil.example/я HTTP/1.1\r\nHost: localhost\r\n\r\n'],
  ['a line break alone', 'GET /я\nX: y HTTP/1.1\r\nHost: localhost\r\n\r\n'],
  ['a long address', `GET /${'я'.repeat(2000)} HTTP/1.1\r\nHost: localhost\r\n\r\n`],
  ['an unfinished line', 'GET /я'],
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
