import { expect, test } from 'vitest'
import { startAt, verifyAt } from '../../testing/sign-in-calls.ts'
import { appForTest } from '../../testing/test-app.ts'

const DAY = 86_400

/** Returns the name of a Set-Cookie header, its value, and its sorted attributes. */
function parse([setCookie = '']: string[]) {
  const [pair = '', ...attributes] = setCookie.split('; ')
  const [name, value = ''] = pair.split('=')
  return { name, value, attributes: attributes.sort() }
}

test.each([
  ['with an http PUBLIC_URL', 'http://vsluh.example', 'session', []],
  ['with an https PUBLIC_URL', 'https://vsluh.example', '__Host-session', ['Secure']],
])(
  '%s the session cookie is HttpOnly, SameSite=Strict, Path=/, for 30 days, with 256 random bits; logging out clears it under the same name and attributes',
  async (_where, publicUrl, name, more) => {
    const app = await appForTest({ config: { publicUrl } })
    const { id } = (await startAt(app, '/registrations', { email: 'olga@example.org' })).body
    const { headers, body } = await verifyAt(app, '/registrations', { id })
    const set = parse(headers.getSetCookie())
    const attributes = ['HttpOnly', 'Path=/', 'SameSite=Strict', ...more]
    expect(set.name).toBe(name)
    expect(set.attributes).toEqual([...attributes, `Max-Age=${30 * DAY}`].sort())
    expect(Buffer.from(set.value.split('.')[1] ?? '', 'base64url')).toHaveLength(32)

    const { token } = body.accessToken
    const out = await app.call('DELETE', '/sessions/current', { token })
    const cleared = parse(out.headers.getSetCookie())
    expect(cleared).toMatchObject({ name, value: '' })
    expect(cleared.attributes).toEqual(expect.arrayContaining(attributes))
    expect(cleared.attributes.join()).toMatch(/Expires=Thu, 01 Jan 1970|Max-Age=0/)
  },
)
