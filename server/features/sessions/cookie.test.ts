import { expect, test } from 'vitest'
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

test.each([
  ['without PUBLIC_URL', undefined, 'session', []],
  ['with an http PUBLIC_URL', 'http://vsluh.example', 'session', []],
  ['with an https PUBLIC_URL', 'https://vsluh.example', '__Host-session', ['Secure']],
])(
  '%s the session cookie is HttpOnly, SameSite=Strict, Path=/, for 30 days, with 256 random bits',
  async (_where, publicUrl, name, more) => {
    const { setCookie } = await signIn(await appForTest({ config: { publicUrl } }))
    const attributes = ['HttpOnly', `Max-Age=${30 * DAY}`, 'Path=/', 'SameSite=Strict', ...more]
    expect(attributesOf(setCookie)).toEqual(attributes)
    const [, called, secret = ''] = /^([^=]+)=[^;]*\.([A-Za-z0-9_-]+);/.exec(setCookie) ?? []
    expect(called).toBe(name)
    expect(Buffer.from(secret, 'base64url')).toHaveLength(32)
  },
)

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
