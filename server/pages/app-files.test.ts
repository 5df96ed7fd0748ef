import { expect, test } from 'vitest'
import { WEB_FILES as FAKE_BUILD } from '../testing/fake-web-app.ts'
import { appForFile, appForTest } from '../testing/test-app.ts'

const MANIFEST = { id: '/', name: 'Вслух', short_name: 'Вслух', lang: 'ru' }
const WEB_FILES = {
  ...FAKE_BUILD,
  'service-worker.js': 'handleRequests()',
  'service-worker-off.js': 'removeEverything()',
  'manifest.webmanifest': JSON.stringify(MANIFEST),
}

const app = await appForFile({ webFiles: WEB_FILES })

const switchedOff = () =>
  appForTest({
    webFiles: WEB_FILES,
    databaseUrl: app.databaseUrl,
    config: { serviceWorker: false, appName: 'Стена "7"' },
  })

test('the service worker is a script that is revalidated each time, and the policy allows no worker from elsewhere', async () => {
  const answer = await fetch(`${app.url}/service-worker.js`)
  expect(answer.status).toBe(200)
  expect(await answer.text()).toBe('handleRequests()')
  expect(answer.headers.get('content-type')).toMatch(/^(?:text|application)\/javascript/)
  expect(answer.headers.get('cache-control')).toBe('no-cache')
  // Workers come from where scripts do, since no other directive names them.
  const policy = answer.headers.get('content-security-policy')
  expect(policy).toMatch(/script-src 'self'(?: 'sha256-[^']+')*;/)
  expect(policy).not.toContain('worker-src')
  expect(answer.headers.get('x-content-type-options')).toBe('nosniff')
})

test('with the service worker off, the same URL is the script that removes it, and pages register none', async () => {
  const off = await switchedOff()
  const answer = await fetch(`${off.url}/service-worker.js`)
  expect(await answer.text()).toBe('removeEverything()')
  expect(answer.headers.get('cache-control')).toBe('no-cache')
  const tag = '<meta name="service-worker" content="off">'
  expect(await (await fetch(off.url)).text()).toContain(tag)
  expect(await (await fetch(app.url)).text()).not.toContain(tag)
})

test('the manifest has its own type and the operator’s name for the app', async () => {
  const answer = await fetch(`${app.url}/manifest.webmanifest`)
  expect(answer.headers.get('content-type')).toBe('application/manifest+json; charset=utf-8')
  expect(answer.headers.get('cache-control')).toBe('public, max-age=3600')
  expect(await answer.json()).toEqual(MANIFEST)
  const { url } = await switchedOff()
  expect(await (await fetch(`${url}/manifest.webmanifest`)).json()).toEqual({
    ...MANIFEST,
    name: 'Стена "7"',
    short_name: 'Стена "7"',
  })
})
