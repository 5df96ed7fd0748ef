import { expect, test } from 'vitest'
import { sendRaw } from '../../testing/raw-http.ts'
import { appForFile, testPerNode } from '../../testing/test-app.ts'

const app = await appForFile()

const locationOf = (answer: string) => /^location: (.*)$/m.exec(answer)?.[1]?.trim()

const perNode = testPerNode('bytes that a balancer would judge before any node')

perNode.each([
  '/robots.txt#top',
  'http://localhost/robots.txt#top',
  'http://localhost/api/v1/posts',
])(
  'a target in absolute form is its path, and a fragment is not the server’s: %s',
  async (target) => {
    const bytes = `GET ${target} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`
    expect(await sendRaw(app.url, bytes)).toMatch(/^HTTP\/1\.1 200 /)
  },
)

perNode.each([
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
