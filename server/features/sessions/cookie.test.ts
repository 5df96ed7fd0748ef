import { expect, test } from 'vitest'
import { passSessionTime } from '../../testing/passing-time.ts'
import { startAt, verifyAt } from '../../testing/sign-in-calls.ts'
import { appForTest, type TestApp } from '../../testing/test-app.ts'

const DAY = 86_400

async function signIn(app: TestApp): Promise<{ setCookie: string; token: string }> {
  const { body } = await startAt(app, '/registrations', { email: 'olga@example.org' })
  const code = app.codeFor(body.id)
  const verified = await verifyAt(app, '/registrations', { id: body.id, code })
  const [setCookie = ''] = verified.headers.getSetCookie()
  return { setCookie, token: verified.body.accessToken.token }
}

function attributesOf(setCookie: string): string[] {
  return setCookie.split('; ').slice(1).sort()
}

function maxAgeOf(setCookie: string): number {
  return Number(/Max-Age=(\d+)/.exec(setCookie)?.[1])
}

test('the session cookie is HttpOnly, SameSite=Strict, Path=/, for 30 days, with 256 random bits in it', async () => {
  const { setCookie } = await signIn(await appForTest())
  const attributes = ['HttpOnly', `Max-Age=${30 * DAY}`, 'Path=/', 'SameSite=Strict']
  expect(attributesOf(setCookie)).toEqual(attributes)
  const secret = /^session=[^;]*\.([A-Za-z0-9_-]+);/.exec(setCookie)?.[1] ?? ''
  expect(Buffer.from(secret, 'base64url')).toHaveLength(32)
})

test('with an https PUBLIC_URL it is Secure too, under the __Host- prefix', async () => {
  const app = await appForTest({ config: { publicUrl: 'https://vsluh.example' } })
  const { setCookie } = await signIn(app)
  expect(setCookie).toMatch(/^__Host-session=/)
  const attributes = ['HttpOnly', `Max-Age=${30 * DAY}`, 'Path=/', 'SameSite=Strict', 'Secure']
  expect(attributesOf(setCookie)).toEqual(attributes)
})

test('with an http PUBLIC_URL it is neither', async () => {
  const app = await appForTest({ config: { publicUrl: 'http://vsluh.example' } })
  const { setCookie } = await signIn(app)
  expect(setCookie).toMatch(/^session=/)
  expect(attributesOf(setCookie)).not.toContain('Secure')
})

test('logging out clears the cookie under the same name and attributes', async () => {
  for (const publicUrl of ['http://vsluh.example', 'https://vsluh.example']) {
    const app = await appForTest({ config: { publicUrl } })
    const { setCookie, token } = await signIn(app)
    const { headers } = await app.call('DELETE', '/sessions/current', { token })
    const [cleared = ''] = headers.getSetCookie()
    expect(cleared.split('=')[0]).toBe(setCookie.split('=')[0])
    expect(cleared).toMatch(/^[^=]+=;/)
    expect(cleared).toMatch(/Expires=Thu, 01 Jan 1970|Max-Age=0/)
    for (const attribute of attributesOf(setCookie).filter((one) => !one.startsWith('Max-Age'))) {
      expect(attributesOf(cleared)).toContain(attribute)
    }
  }
})

test('a rotated cookie lasts 30 days, but never longer than the 90 days of the session', async () => {
  const app = await appForTest()
  const olga = await app.signIn('olga@example.org', 'one browser')
  let { cookie } = olga
  const ages: number[] = []
  for (const days of [20, 20, 15, 25]) {
    await passSessionTime(app, days * DAY)
    const body = { clientToken: olga.clientToken }
    const answer = await app.call('PATCH', '/sessions/current', { body, headers: { cookie } })
    cookie = answer.cookie ?? ''
    ages.push(maxAgeOf(answer.headers.getSetCookie()[0] ?? ''))
  }
  expect(ages.slice(0, 3)).toEqual([30 * DAY, 30 * DAY, 30 * DAY])
  expect(ages[3]).toBeLessThanOrEqual(10 * DAY)
  expect(ages[3]).toBeGreaterThan(10 * DAY - 60)
})
