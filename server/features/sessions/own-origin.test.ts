import { expect, test } from 'vitest'
import { countCodes, startAt, wrongCode } from '../../testing/calls/sign-in-calls.ts'
import { passSessionTime } from '../../testing/database/passing-time.ts'
import { expectRefusal } from '../../testing/http/expect-refusal.ts'
import { appForFile } from '../../testing/test-app.ts'
import { refresh } from './sessions.fixture.ts'

const app = await appForFile()

/** The headers of a browser for a page of another site. */
const FOREIGN_PAGES: Record<string, string>[] = [
  { origin: 'https://evil.example' },
  { origin: 'null' },
  { origin: app.url.replace(/\d+$/, '1') },
  { origin: `${app.url}.evil.example` },
  { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' },
  { 'sec-fetch-site': 'cross-site' },
  { 'sec-fetch-site': 'same-site' },
]

test('a foreign Origin or, without one, Sec-Fetch-Site on PATCH /sessions/current is 403, text/plain is 415, and the cookie is not changed', async () => {
  const olga = await app.signUp()
  await passSessionTime(app, 601)
  for (const headers of FOREIGN_PAGES) {
    const refusal = await refresh(app, olga, headers)
    expectRefusal(refusal, 'FORBIDDEN')
    expect(refusal.cookie).toBeUndefined()
  }
  const asForm = await refresh(app, olga, { 'content-type': 'text/plain' })
  expectRefusal(asForm, 'UNSUPPORTED_MEDIA_TYPE')
  expect(asForm.cookie).toBeUndefined()
  for (const site of ['same-origin', 'none']) {
    expect((await refresh(app, olga, { 'sec-fetch-site': site })).status).toBe(200)
  }
  expect((await refresh(app, olga)).status).toBe(200)
})

const PROXIED = await appForFile({ config: { trustProxy: ['127.0.0.1'] } })
const PUBLIC = await appForFile({ config: { publicUrl: 'https://vsluh.example' } })
const HTTPS = { 'x-forwarded-proto': 'https' }

test.each([
  ['its own host', 'http://HOST', 'ok', app, {}],
  ['its own host', 'https://HOST', 'FORBIDDEN', app, {}],
  ['its own host, whatever a stranger says of https', 'https://HOST', 'FORBIDDEN', app, HTTPS],
  ['a proxy on https', 'https://HOST', 'ok', PROXIED, HTTPS],
  ['a proxy on https', 'http://HOST', 'FORBIDDEN', PROXIED, HTTPS],
  ['a proxy on http', 'https://HOST', 'FORBIDDEN', PROXIED, {}],
  ['PUBLIC_URL', 'https://vsluh.example', 'ok', PUBLIC, {}],
  ['PUBLIC_URL', 'http://HOST', 'FORBIDDEN', PUBLIC, {}],
  ['PUBLIC_URL', 'http://vsluh.example', 'FORBIDDEN', PUBLIC, {}],
  ['PUBLIC_URL', 'https://vsluh.example:8443', 'FORBIDDEN', PUBLIC, {}],
])(
  'a site that knows its Origin by %s answers %s: %s',
  async (_by, origin, outcome, site, proto) => {
    const headers = { ...proto, origin: origin.replace('HOST', new URL(site.url).host) }
    const answer = await refresh(site, await site.signUp(), headers)
    expect(countCodes([answer])).toEqual({ [outcome]: 1 })
  },
)

test.each([['/logins'], ['/registrations']] as const)(
  'a page of another site cannot sign anybody in by %s: 403, no cookie, and no attempt is used',
  async (path) => {
    const olga = await app.signUp()
    const { body } = await startAt(app, path, { email: olga.email })
    const verify = (headers: Record<string, string>, confirmCode = app.codeFor(body.id)) =>
      app.call('POST', `${path}/${body.id}/verify`, {
        body: { confirmCode, clientToken: 'one browser' },
        headers,
      })
    for (const headers of FOREIGN_PAGES) {
      const refusal = await verify(headers, wrongCode(app.codeFor(body.id)))
      expectRefusal(refusal, 'FORBIDDEN')
      expectRefusal(await verify(headers), 'FORBIDDEN')
      expect(refusal.cookie).toBeUndefined()
    }
    expect((await verify({ origin: app.url, 'sec-fetch-site': 'same-origin' })).status).toBe(200)
  },
)

test('PATCH /sessions/current authenticates with the cookie only, every other call with the bearer token only', async () => {
  const { cookie, token, clientToken } = await app.signUp()
  const headers = { cookie }
  expectRefusal(await app.call('GET', '/users/current', { headers }), 'UNAUTHORIZED')
  const body = { text: 'От чужого имени' }
  expectRefusal(await app.call('POST', '/posts', { headers, body }), 'UNAUTHORIZED')
  expectRefusal(await app.call('DELETE', '/sessions/current', { headers }), 'UNAUTHORIZED')
  const refusal = await app.call('PATCH', '/sessions/current', { token, body: { clientToken } })
  expectRefusal(refusal, 'UNAUTHORIZED')
})
