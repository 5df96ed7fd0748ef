import { expect, test } from 'vitest'
import { FRAMES } from '../../testing/fake-web-app.ts'
import { appForFile, appForTest } from '../../testing/test-app.ts'

const app = await appForFile()

const get = (path: string) => fetch(app.url + path)

const csp = (headers: Headers) => (headers.get('content-security-policy') ?? '').split(/;\s*/)

test('a page allows its own scripts and styles, the inline ones by hash, nothing unsafe, and no frame around it', async () => {
  const { status, headers } = await get('/settings')
  expect(status).toBe(200)
  const { scripts, styles } = FRAMES.inlineHashes
  expect(csp(headers).join()).not.toMatch(/unsafe-|\*/)
  const sources = [
    "default-src 'self'",
    `script-src 'self' ${scripts.join(' ')}`,
    `style-src 'self' ${styles.join(' ')}`,
  ]
  const closed = ['object-src', 'base-uri', 'frame-ancestors'].map((name) => `${name} 'none'`)
  expect(csp(headers)).toEqual(expect.arrayContaining([...sources, ...closed]))
  expect(Object.fromEntries(headers)).toMatchObject({
    'referrer-policy': 'strict-origin',
    'x-content-type-options': 'nosniff',
    'cache-control': 'private, no-cache, no-transform',
  })
})

test('a built asset allows nothing inline, and may be cached for ever; an unknown one is NOT_FOUND', async () => {
  const { headers } = await get('/assets/index.js')
  expect(csp(headers)).toEqual(expect.arrayContaining(["script-src 'self'", "style-src 'self'"]))
  expect(headers.get('cache-control')).toContain('immutable')
  expect(headers.get('x-content-type-options')).toBe('nosniff')
  expect(await (await get('/assets/gone.js')).json()).toMatchObject({ code: 'NOT_FOUND' })
})

test('the application’s name cannot break out of the page', async () => {
  const config = { appName: '"><script>alert(1)</script>' }
  const other = await appForTest({ config })
  expect(await (await fetch(`${other.url}/settings`)).text()).not.toContain('<script>alert')
})

test.each([
  ['GET', '/users/current', 200],
  ['GET', '/posts', 200],
  ['POST', '/posts', 201],
  ['GET', '/posts/999999', 404],
  ['GET', '/nope', 404],
  ['GET', '/../%761/users/current', 200],
] as const)(
  'an answer of the API to a user must not be stored: %s %s',
  async (method, path, status) => {
    const { token } = await app.signUp()
    const body = method === 'POST' ? { text: 'Раз' } : undefined
    const answer = await app.call(method, path, { token, body })
    expect(answer.status).toBe(status)
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      'content-type': 'application/json; charset=utf-8',
    })
  },
)

const COOP = 'same-origin'
const HTTPS = { publicUrl: 'https://vslukh.example' }

// On plain http browsers ignore COOP and log an error.
test.each([
  [{}, null, null, false],
  [{ publicUrl: 'http://wall.test' }, null, null, false],
  [HTTPS, 'max-age=31536000', COOP, true],
  [{ ...HTTPS, hstsSubdomains: true }, 'max-age=31536000; includeSubDomains', COOP, true],
])(
  'every answer of a site with %j has HSTS %s, COOP %s and, for assets, https only: %s',
  async (config, hsts, coop, upgrades) => {
    const site = await appForTest({ config })
    for (const path of ['/settings', '/api/v1/posts', '/api/v1/posts']) {
      const { headers } = await fetch(site.url + path)
      expect(headers.get('strict-transport-security'), path).toBe(hsts)
      expect(headers.get('cross-origin-opener-policy'), path).toBe(coop)
      expect(csp(headers).includes('upgrade-insecure-requests'), path).toBe(upgrades)
    }
  },
)

test('without a built web app there is an API and no page', async () => {
  const bare = await appForTest({ webFiles: {} })
  expect((await fetch(bare.url)).status).toBe(404)
  expect((await bare.call('GET', '/posts')).status).toBe(200)
})
