import { createSecretKey, randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { deriveKey } from '../../kernel/config/app-secret.ts'
import { EXCLUDED_TABLES } from '../../operations/backup/tables.repository.ts'
import { isSignedIn } from '../../testing/calls/email-change-calls.ts'
import { countCodes, ONE_BROWSER, startAt, wrongCode } from '../../testing/calls/sign-in-calls.ts'
import { passSessionTime } from '../../testing/database/passing-time.ts'
import { DEVICE, type TestUser } from '../../testing/http/client.ts'
import { expectRefusal } from '../../testing/http/expect-refusal.ts'
import { appForFile, appForTest, SECRET } from '../../testing/test-app.ts'
import { deriveAccessTokenKey, signAccessToken } from './authenticator.ts'
import { formatSessionCookie, hashSecret, randomSecret, signSecret } from './cookie.ts'
import { refresh, signInTwice } from './sessions.fixture.ts'
import { selectTokenKey } from './sessions.repository.ts'

const DAY = 86_400

const app = await appForFile()

const refreshBy = ({ clientToken }: TestUser, cookie: string) =>
  refresh(app, { clientToken, cookie })

/** Refreshes after ten minutes, when the cookie is rotated. Returns the new cookie. */
async function rotate(user: TestUser, cookie: string): Promise<string> {
  await passSessionTime(app, 601)
  const answer = await refreshBy(user, cookie)
  expect(answer.status).toBe(200)
  expect(answer.cookie).toBeDefined()
  expect(answer.cookie).not.toBe(cookie)
  return answer.cookie ?? ''
}

test('a refresh returns a new access token for 5 minutes, and does not rotate a cookie younger than 10 minutes', async () => {
  const olga = await app.signUp()
  await passSessionTime(app, 590)
  const { status, body, cookie } = await refreshBy(olga, olga.cookie)
  expect(status).toBe(200)
  expect(await isSignedIn(app, body.accessToken)).toBe(true)
  const seconds = body.accessToken.expiresAt - Date.now() / 1000
  expect(seconds).toBeGreaterThan(280)
  expect(seconds).toBeLessThanOrEqual(300)
  expect(cookie).toBeUndefined()
})

test('a cookie that was set while the clock was a day ahead is rotated once the clock is right', async () => {
  const olga = await app.signUp()
  await passSessionTime(app, -86_400)
  const { status, cookie } = await refreshBy(olga, olga.cookie)
  expect(status).toBe(200)
  expect(cookie).toBeDefined()
})

test('ten tabs that refresh concurrently all get a valid token, and one of them the next cookie', async () => {
  const olga = await app.signUp()
  await passSessionTime(app, 601)
  const tabs = await Promise.all(Array.from({ length: 10 }, () => refreshBy(olga, olga.cookie)))
  for (const { status, body } of tabs) {
    expect(status).toBe(200)
    expect(await isSignedIn(app, body.accessToken)).toBe(true)
  }
  const cookies = tabs.flatMap(({ cookie }) => cookie ?? [])
  expect(cookies).toHaveLength(1)
  expect((await refreshBy(olga, cookies[0] ?? '')).status).toBe(200)
})

test('a second tab can refresh with the previous cookie for 60 s after the new one was seen; later it is 401 and closes the session', async () => {
  const olga = await app.signUp()
  const next = await rotate(olga, olga.cookie)
  await refreshBy(olga, next)
  await passSessionTime(app, 55)
  expect((await refreshBy(olga, olga.cookie)).status).toBe(200)
  await passSessionTime(app, 6)
  expectRefusal(await refreshBy(olga, olga.cookie), 'UNAUTHORIZED')
  expectRefusal(await refreshBy(olga, next), 'UNAUTHORIZED')
  expect(await isSignedIn(app, olga)).toBe(false)
})

test('an older cookie is 401 and closes its own session, at once and for its tokens too', async () => {
  const [olga, phone] = await signInTwice(app)
  const second = await rotate(olga, olga.cookie)
  const third = await rotate(olga, second)
  expectRefusal(await refreshBy(olga, olga.cookie), 'UNAUTHORIZED')
  expectRefusal(await refreshBy(olga, third), 'UNAUTHORIZED')
  expect(await isSignedIn(app, olga)).toBe(false)
  expect((await refreshBy(phone, phone.cookie)).status).toBe(200)
})

test('a refresh whose response was lost can be repeated, even long after it; the lost cookie is invalid then', async () => {
  const olga = await app.signUp()
  const lost = await rotate(olga, olga.cookie)
  expect((await refreshBy(olga, olga.cookie)).status).toBe(200)

  await passSessionTime(app, 3600)
  const again = await refreshBy(olga, olga.cookie)
  expect(again.status).toBe(200)
  expect((await refreshBy(olga, again.cookie ?? '')).status).toBe(200)
  expectRefusal(await refreshBy(olga, lost), 'UNAUTHORIZED')
})

/** Restores the rows of all sessions, as a backup does, after `meanwhile`. */
async function restoreSessions(meanwhile: () => Promise<void>): Promise<void> {
  await app.sql`CREATE TABLE saved AS SELECT * FROM sessions`
  await meanwhile()
  await app.sql`UPDATE sessions SET secret_hash = saved.secret_hash, previous_hash = saved.previous_hash,
    secret_number = saved.secret_number, seen = saved.seen, rotated_at = saved.rotated_at
    FROM saved WHERE saved.id = sessions.id`
  await app.sql`DROP TABLE saved`
}

const isAlarmed = ({ id }: TestUser) =>
  app.logged.some((line) => line.includes('cookie was copied') && line.includes(`"userId":"${id}"`))

test('a cookie that was rotated since the restored backup signs in, once or in two tabs, and alarms nobody', async () => {
  const olga = await app.signUp()
  let cookie = await rotate(olga, olga.cookie)
  await restoreSessions(async () => {
    for (let time = 0; time < 3; time++) cookie = await rotate(olga, cookie)
  })
  const [first, second] = [await refreshBy(olga, cookie), await refreshBy(olga, cookie)]
  expect([first.status, second.status]).toEqual([200, 200])
  const next = first.cookie ?? ''
  expect(next).not.toBe(cookie)
  expect((await refreshBy(olga, next)).status).toBe(200)
  expect((await refreshBy(olga, await rotate(olga, next))).status).toBe(200)
  expect(isAlarmed(olga)).toBe(false)
})

test('after a restore an older cookie still closes the session, and so does a second holder of the cookie', async () => {
  const [olga, petr] = [await app.signUp(), await app.signUp()]
  const cookies = new Map([
    [olga, ''],
    [petr, ''],
  ])
  for (const user of [olga, petr]) {
    cookies.set(user, await rotate(user, await rotate(user, user.cookie)))
  }
  const stolen = cookies.get(petr) ?? ''
  await restoreSessions(async () => {
    for (const user of [olga, petr]) cookies.set(user, await rotate(user, cookies.get(user) ?? ''))
  })
  expectRefusal(await refreshBy(olga, olga.cookie), 'UNAUTHORIZED')
  expect(isAlarmed(olga)).toBe(true)
  expectRefusal(await refreshBy(olga, cookies.get(olga) ?? ''), 'UNAUTHORIZED')

  const next = (await refreshBy(petr, cookies.get(petr) ?? '')).cookie ?? ''
  expect((await refreshBy(petr, next)).status).toBe(200)
  expectRefusal(await refreshBy(petr, stolen), 'UNAUTHORIZED')
  expect(isAlarmed(petr)).toBe(true)
})

test('a secret that another server has made, or that was changed, is not taken for a newer one', async () => {
  const key = deriveKey(SECRET, 'session-secret')
  const otherKey = deriveKey('a-secret-of-somebody-else-0123456789', 'session-secret')
  const bytesOf = ({ secret }: { secret: string }) => Buffer.from(secret, 'base64url')
  for (const forge of [
    (id: string) => signSecret({ id, number: 9 }, otherKey),
    (id: string) => ({ id, secret: signSecret({ id: randomUUID(), number: 9 }, key).secret }),
    (id: string) => {
      const bytes = bytesOf(signSecret({ id, number: 1 }, key))
      bytes.writeUInt32BE(9)
      return { id, secret: bytes.toString('base64url') }
    },
  ]) {
    const olga = await app.signUp()
    const [name = '', value = ''] = olga.cookie.split('=')
    const forged = forge(value.split('.')[0] ?? '')
    expectRefusal(await refreshBy(olga, `${name}=${formatSessionCookie(forged)}`), 'UNAUTHORIZED')
  }
})

test('a cookie of before secrets were numbered stays valid, and is rotated to a numbered one', async () => {
  const olga = await app.signUp()
  const [name = '', value = ''] = olga.cookie.split('=')
  const [id = ''] = value.split('.')
  const old = { id, secret: randomSecret() }
  await app.sql`UPDATE sessions SET secret_hash = ${hashSecret(old.secret)}, secret_number = 0 WHERE id = ${id}`
  const next = await rotate(olga, `${name}=${formatSessionCookie(old)}`)
  expect((await refreshBy(olga, next)).status).toBe(200)
  expect(await app.sql`SELECT secret_number FROM sessions WHERE id = ${id}`).toEqual([
    { secret_number: 1 },
  ])
})

test('a session that was unused for 30 days has expired: no refresh, no valid token, not in the list', async () => {
  const olga = await app.signIn('idle@example.org', 'laptop')
  await passSessionTime(app, 30 * DAY - 60)
  expect(await isSignedIn(app, olga)).toBe(true)
  await passSessionTime(app, 120)
  expect(await isSignedIn(app, olga)).toBe(false)
  expectRefusal(await refresh(app, olga), 'UNAUTHORIZED')

  const { token } = await app.signIn('idle@example.org', 'phone')
  expect((await app.call('GET', '/sessions', { token })).body.sessions).toHaveLength(1)
})

test('a session that is used every 20 days stays live, for at most 90 days in all, and so does its cookie', async () => {
  const olga = await app.signUp()
  for (const left of [30, 30, 30, 10]) {
    await passSessionTime(app, 20 * DAY)
    const { status, cookie, headers } = await refresh(app, olga)
    expect(status).toBe(200)
    const [, seconds] = /Max-Age=(\d+)/.exec(headers.getSetCookie()[0] ?? '') ?? []
    expect(Number(seconds)).toBeGreaterThan(left * DAY - 60)
    expect(Number(seconds)).toBeLessThanOrEqual(left * DAY)
    olga.cookie = cookie ?? ''
  }
  await passSessionTime(app, 10 * DAY - 60)
  expect(await isSignedIn(app, olga)).toBe(true)
  await passSessionTime(app, 120)
  expect(await isSignedIn(app, olga)).toBe(false)
  expectRefusal(await refresh(app, olga), 'UNAUTHORIZED')
})

const bareKey = (secret: string) => createSecretKey(deriveKey(secret, 'access-token'))

/** Returns the user with a token that is signed with this key. */
function signedWith(key: ReturnType<typeof bareKey>, { token }: TestUser, seconds = 300) {
  const [userId = '', sessionId = ''] = token.split('.')
  return signAccessToken({ userId, sessionId }, { key, seconds }).accessToken
}

test('an expired token is 401 even though its session is live', async () => {
  const late = await appForTest({ config: { accessTokenSeconds: -1 } })
  const olga = await late.signUp()
  expect(await isSignedIn(late, olga)).toBe(false)
  expect((await refresh(late, olga)).status).toBe(200)
})

test('a token that was changed, unsigned, too long-lived or signed by another secret or by what a backup contains is 401, on public reads too', async () => {
  const olga = await app.signUp()
  const petr = await app.signUp()
  const [userId = '', sessionId = '', expiresAt = '', mac = ''] = olga.token.split('.')
  const key = deriveAccessTokenKey(SECRET, await selectTokenKey(app.db))
  for (const forged of [
    [petr.id, sessionId, expiresAt, mac].join('.'),
    [userId, petr.token.split('.')[1], expiresAt, mac].join('.'),
    [userId, sessionId, Number(expiresAt) + 60, mac].join('.'),
    [userId, sessionId, expiresAt, ''].join('.'),
    `${olga.token}=`,
    'noise',
    signedWith(key, olga, 86_400 * 365).token,
    signedWith(bareKey('a-secret-of-somebody-else-0123456789'), olga).token,
    signedWith(bareKey(SECRET), olga).token,
  ]) {
    expect(await isSignedIn(app, { token: forged })).toBe(false)
    expectRefusal(await app.call('GET', '/posts', { token: forged }), 'UNAUTHORIZED')
  }
  for (const right of [olga, signedWith(key, olga)]) expect(await isSignedIn(app, right)).toBe(true)
  expect(EXCLUDED_TABLES).toContain('access_token_key')
})

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
  ['its own host, despite a forged X-Forwarded-Proto', 'https://HOST', 'FORBIDDEN', app, HTTPS],
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
  'a page of another site cannot sign anybody in by %s: 403, no mail, no cookie, and no attempt is used',
  async (path) => {
    const { email } = await app.signUp()
    const isMailed = async () =>
      (await app.sql`SELECT FROM codes WHERE email = ${email}`).length > 0
    const send = (to: string, fields: object, headers: Record<string, string>) =>
      app.call('POST', to, { body: { ...fields, clientToken: ONE_BROWSER }, headers })
    for (const headers of FOREIGN_PAGES) {
      const refusal = await send(path, { email, device: DEVICE }, headers)
      expectRefusal(refusal, 'FORBIDDEN')
      expect(refusal.body.message).toContain(`по адресу ${app.url}.`)
    }
    expect(await isMailed()).toBe(false)

    const { body } = await startAt(app, path, { email })
    expect(await isMailed()).toBe(true)
    const verify = (headers: Record<string, string>, confirmCode = app.codeFor(body.id)) =>
      send(`${path}/${body.id}/verify`, { confirmCode }, headers)
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
  const basic = { authorization: `Basic ${token}` }
  expectRefusal(await app.call('GET', '/posts', { headers: basic }), 'UNAUTHORIZED')
  const body = { text: 'От чужого имени' }
  expectRefusal(await app.call('POST', '/posts', { headers, body }), 'UNAUTHORIZED')
  expectRefusal(await app.call('DELETE', '/sessions/current', { headers }), 'UNAUTHORIZED')
  const refusal = await app.call('PATCH', '/sessions/current', { token, body: { clientToken } })
  expectRefusal(refusal, 'UNAUTHORIZED')
})
