import { expect, test } from 'vitest'
import { sendRaw } from '../../testing/raw-http.ts'
import { appForFile } from '../../testing/test-app.ts'

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
