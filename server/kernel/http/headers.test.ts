import { expect, test } from 'vitest'
import { WEB_FILES as FAKE_BUILD, FRAMES } from '../../testing/fake-web-app.ts'
import { appForFile, appForTest } from '../../testing/test-app.ts'

const WEB_FILES = { ...FAKE_BUILD, 'assets/app-1a2b.js': 'export {}' }

const app = await appForFile({ webFiles: WEB_FILES })

const get = (path: string) => fetch(app.url + path)

function csp(headers: Headers): Map<string, string[]> {
  const policy = headers.get('content-security-policy') ?? ''
  return new Map(
    policy.split(';').map((directive) => {
      const [name = '', ...sources] = directive.trim().split(' ')
      return [name, sources]
    }),
  )
}

test('a page allows its own scripts and styles, the inline ones by hash, nothing unsafe, and no frame around it', async () => {
  const { status, headers } = await get('/')
  expect(status).toBe(200)
  expect(headers.get('content-security-policy')).not.toMatch(/unsafe-|\*/)
  const policy = csp(headers)
  expect(policy.get('script-src')).toEqual(["'self'", ...FRAMES.inlineHashes.scripts])
  expect(policy.get('style-src')).toEqual(["'self'", ...FRAMES.inlineHashes.styles])
  expect(policy.get('default-src')).toEqual(["'self'"])
  expect(policy.get('object-src')).toEqual(["'none'"])
  expect(policy.get('base-uri')).toEqual(["'none'"])
  expect(policy.get('frame-ancestors')).toEqual(["'none'"])
})

test('a page sets Referrer-Policy, COOP and nosniff, and is revalidated each time', async () => {
  const { headers } = await get('/settings')
  expect(headers.get('referrer-policy')).toBe('strict-origin-when-cross-origin')
  expect(headers.get('cross-origin-opener-policy')).toBe('same-origin')
  expect(headers.get('x-content-type-options')).toBe('nosniff')
  expect(headers.get('cache-control')).toBe('private, no-cache')
  expect(headers.get('x-powered-by')).toBeNull()
})

test('on plain http, where browsers ignore COOP and log an error, no page has it', async () => {
  const plain = await appForTest({
    webFiles: WEB_FILES,
    config: { publicUrl: 'http://wall.test' },
  })
  const { headers } = await fetch(`${plain.url}/`)
  expect(headers.get('cross-origin-opener-policy')).toBeNull()
})

test('a built asset may be cached for ever', async () => {
  const { headers } = await get('/assets/app-1a2b.js')
  expect(headers.get('cache-control')).toContain('immutable')
  expect(headers.get('x-content-type-options')).toBe('nosniff')
})

test('a page of the web app is 200, any other path 404 with the same HTML, an unknown asset NOT_FOUND', async () => {
  const post = await app.publish(await app.signUp())
  for (const path of [
    '/',
    `/posts/${post.id}`,
    '/liked',
    '/own/posts',
    '/own/replies',
    '/settings/devices',
  ]) {
    expect((await get(path)).status).toBe(200)
  }
  const missing = await get('/nowhere')
  expect(missing.status).toBe(404)
  expect(missing.headers.get('content-type')).toContain('text/html')
  expect(await (await get('/assets/gone.js')).json()).toMatchObject({ code: 'NOT_FOUND' })
})

test('the application’s name cannot break out of the page', async () => {
  const other = await appForTest({
    webFiles: WEB_FILES,
    config: { appName: '"><script>alert(1)</script>' },
  })
  expect(await (await fetch(`${other.url}/settings`)).text()).not.toContain('<script>alert')
})

test.each([
  ['GET', '/users/current', 200],
  ['GET', '/sessions', 200],
  ['GET', '/posts', 200],
  ['GET', '/posts?filter=liked', 200],
  ['GET', '/posts/replies', 200],
  ['POST', '/posts', 201],
  ['GET', '/posts/999999', 404],
  ['GET', '/users/1/validation', 400],
  ['GET', '/nope', 404],
  ['GET', '/../%761/users/current', 200],
] as const)(
  'an answer of the API to a user must not be stored: %s %s',
  async (method, path, status) => {
    const { token } = await app.signUp()
    const body = method === 'POST' ? { text: 'Раз' } : undefined
    const answer = await app.call(method, path, { token, ...(body && { body }) })
    expect(answer.status).toBe(status)
    expect(answer.headers.get('cache-control')).toBe('no-store')
    expect(answer.headers.get('x-content-type-options')).toBe('nosniff')
    expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8')
  },
)

test('a visitor’s read sets nosniff and may be cached only while it is true, on the first call and from the cache', async () => {
  for (const path of ['/posts', '/posts', '/posts', '/reports/reasons']) {
    const { headers } = await app.call('GET', path)
    expect(headers.get('x-content-type-options')).toBe('nosniff')
    expect(headers.get('cache-control') ?? '').not.toMatch(/max-age=[1-9]|immutable/)
    expect(headers.get('content-security-policy')).not.toMatch(/unsafe-/)
  }
})

test('with an https PUBLIC_URL every answer sets HSTS and pages upgrade requests; without it none does', async () => {
  const https = await appForTest({
    webFiles: WEB_FILES,
    config: { publicUrl: 'https://vslukh.example' },
  })
  for (const path of ['/', '/api/v1/posts', '/api/v1/posts']) {
    const secure = await fetch(https.url + path)
    expect(secure.headers.get('strict-transport-security')).toBe('max-age=31536000')
    const plain = await get(path)
    expect(plain.headers.get('strict-transport-security')).toBeNull()
    expect(plain.headers.get('content-security-policy')).not.toContain('upgrade-insecure-requests')
  }
  expect(csp((await fetch(https.url)).headers).has('upgrade-insecure-requests')).toBe(true)
})

test('HSTS covers subdomains only where the operator turns that on', async () => {
  const config = { publicUrl: 'https://vslukh.example', hstsSubdomains: true }
  const site = await appForTest({ webFiles: WEB_FILES, config })
  for (const path of ['/', '/api/v1/posts']) {
    const { headers } = await fetch(site.url + path)
    expect(headers.get('strict-transport-security')).toBe('max-age=31536000; includeSubDomains')
  }
})

test('without a built web app there is an API and no page', async () => {
  const bare = await appForTest({ webFiles: {} })
  expect((await fetch(bare.url)).status).toBe(404)
  expect((await bare.call('GET', '/posts')).status).toBe(200)
})
