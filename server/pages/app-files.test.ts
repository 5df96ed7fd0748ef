import { expect, test } from 'vitest'
import { appForFile } from '../testing/test-app.ts'

const app = await appForFile()
const OWN_NAME = 'Стена "7"'
const config = { serviceWorker: false, appName: OWN_NAME }
const off = await appForFile({ databaseUrl: app.databaseUrl, config })

async function read(url: string) {
  const answer = await fetch(url)
  return { header: (name: string) => answer.headers.get(name), text: await answer.text() }
}

test('the service worker is a script that is revalidated each time, and the policy allows no worker from elsewhere', async () => {
  const { text, header } = await read(`${app.url}/service-worker.js`)
  expect(text).toBe('handleRequests()')
  expect(header('content-type')).toMatch(/^(?:text|application)\/javascript/)
  expect(header('cache-control')).toBe('no-cache')
  // Workers come from where scripts do, since no other directive names them.
  const policy = header('content-security-policy')
  expect(policy).toMatch(/script-src 'self'(?: 'sha256-[^']+')*;/)
  expect(policy).not.toContain('worker-src')
  expect(header('x-content-type-options')).toBe('nosniff')
})

test('with the service worker off, the same URL is the script that removes it, and pages register none', async () => {
  const { text, header } = await read(`${off.url}/service-worker.js`)
  expect([text, header('cache-control')]).toEqual(['removeEverything()', 'no-cache'])
  const tag = '<meta name="service-worker" content="off">'
  expect((await read(off.url)).text).toContain(tag)
  expect((await read(app.url)).text).not.toContain(tag)
})

test('the manifest has its own type and the operator’s name for the app', async () => {
  const { text, header } = await read(`${app.url}/manifest.webmanifest`)
  expect(header('content-type')).toBe('application/manifest+json; charset=utf-8')
  expect(header('cache-control')).toBe('public, max-age=3600')
  expect(JSON.parse(text)).toEqual({ id: '/', name: 'Вслух', short_name: 'Вслух' })
  const own = JSON.parse((await read(`${off.url}/manifest.webmanifest`)).text)
  expect(own).toEqual({ id: '/', name: OWN_NAME, short_name: OWN_NAME })
})

test.each([
  ['bytes=0-3', 206, 'bytes 0-3/7', 'star'],
  ['bytes=-3', 206, 'bytes 4-6/7', 't()'],
  ['bytes=5-99', 206, 'bytes 5-6/7', '()'],
  ['bytes=7-', 416, 'bytes */7', ''],
  ['bytes=99-100', 416, 'bytes */7', ''],
  ['bytes=-0', 416, 'bytes */7', ''],
  ['bytes=5-2', 200, null, 'start()'],
  ['bytes=', 200, null, 'start()'],
  ['bytes=-', 200, null, 'start()'],
  ['bytes=a-b', 200, null, 'start()'],
  ['bytes=0x1-2', 200, null, 'start()'],
  ['bytes=0-1,5-2', 200, null, 'start()'],
  ['bytes=0-1,3-4', 200, null, 'start()'],
  ['lines=0-3', 200, null, 'start()'],
])('the range %j of a file is a %i', async (range, status, contentRange, text) => {
  const answer = await fetch(`${app.url}/assets/index.js`, { headers: { range } })
  const got = [answer.status, answer.headers.get('content-range'), await answer.text()]
  expect(got).toEqual([status, contentRange, text])
  const head = await fetch(`${app.url}/assets/index.js`, { method: 'HEAD', headers: { range } })
  expect([head.status, head.headers.get('content-range')]).toEqual([200, null])
})

test('a file that is not the one named by If-Match is a 412', async () => {
  const headers = { 'if-match': '"another"' }
  expect((await fetch(`${app.url}/assets/index.js`, { headers })).status).toBe(412)
})

test('/.well-known/security.txt names the operator’s address for a year at most; without one it does not exist', async () => {
  const contactEmail = 'help@стена.рф'
  const publicUrl = 'https://vslukh.example'
  const { databaseUrl } = app
  const named = await appForFile({ databaseUrl, config: { contactEmail, publicUrl } })
  const { text, header } = await read(`${named.url}/.well-known/security.txt`)
  expect(header('content-type')).toBe('text/plain; charset=utf-8')
  const fields = new Map(
    text
      .trimEnd()
      .split('\n')
      .map((line) => line.split(/: (.*)/s, 2) as [string, string]),
  )
  expect([...fields.keys()]).toEqual(['Contact', 'Expires', 'Preferred-Languages', 'Canonical'])
  expect(decodeURI(fields.get('Contact') ?? '')).toBe(`mailto:${contactEmail}`)
  expect(fields.get('Canonical')).toBe(`${publicUrl}/.well-known/security.txt`)
  const days = (Date.parse(fields.get('Expires') ?? '') - Date.now()) / 86_400_000
  expect(days).toBeGreaterThan(30)
  expect(days).toBeLessThan(366)
  expect((await fetch(`${app.url}/.well-known/security.txt`)).status).toBe(404)
})
