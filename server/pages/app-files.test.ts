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
