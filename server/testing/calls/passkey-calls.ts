import { expect } from 'vitest'
import type { Assertion, Passkey } from '../../../contract/passkeys.ts'
import type { Authenticator } from '../authenticator.ts'
import { passTime } from '../database/passing-time.ts'
import { browserOf, DEVICE, type TestAnswer, type TestUser } from '../http/client.ts'
import type { TestApp } from '../test-app.ts'
import { clientHeaders, ONE_BROWSER } from './sign-in-calls.ts'

const OWN = '/users/current/passkeys'

type Signing = { token: string }

export function startPasskey(app: TestApp, { token }: Signing): Promise<TestAnswer> {
  return app.call('POST', OWN, { token, headers: { origin: app.origin } })
}

export function verifyPasskey(app: TestApp, { token }: Signing, id: string, body: object) {
  return app.call('POST', `${OWN}/${id}/verify`, { token, body, headers: { origin: app.origin } })
}

/** Adds a passkey that the authenticator creates on the wall's own page. */
export async function addPasskey(
  app: TestApp,
  user: Signing,
  authenticator: Authenticator,
): Promise<Passkey> {
  const { body } = await startPasskey(app, user)
  const added = await verifyPasskey(
    app,
    user,
    body.id,
    authenticator.create(body.options, app.origin),
  )
  expect(added.status, JSON.stringify(added.body)).toBe(200)
  return added.body
}

export async function listPasskeys(app: TestApp, { token }: Signing): Promise<Passkey[]> {
  return (await app.call('GET', OWN, { token })).body.passkeys
}

export function removePasskey(app: TestApp, { token }: Signing, id: string): Promise<TestAnswer> {
  return app.call('DELETE', `${OWN}/${id}`, { token })
}

type Browser = { clientToken?: string; browser?: string | undefined; ip?: string }

export function startPasskeyLogin(
  app: TestApp,
  { clientToken = ONE_BROWSER, browser, ip }: Browser = {},
): Promise<TestAnswer> {
  const body = { clientToken, device: DEVICE }
  return app.call('POST', '/passkey-logins', { body, ...clientHeaders(ip, browser) })
}

type Verification = Browser & { id: string; assertion: Assertion; restore?: true | undefined }

export function verifyPasskeyLogin(
  app: TestApp,
  { id, assertion, clientToken = ONE_BROWSER, browser, ip, restore }: Verification,
): Promise<TestAnswer> {
  const body = { assertion, clientToken, restore }
  return app.call('POST', `/passkey-logins/${id}/verify`, { body, ...clientHeaders(ip, browser) })
}

/** Signs in on the wall's own page, in the browser of the cookie if one is given. */
export async function signInWith(
  app: TestApp,
  authenticator: Authenticator,
  browser: Browser = {},
): Promise<TestAnswer> {
  const started = await startPasskeyLogin(app, browser)
  const assertion = authenticator.get(started.body.options, app.origin)
  const cookie = browser.browser ?? browserOf(started)
  return verifyPasskeyLogin(app, { ...browser, browser: cookie, id: started.body.id, assertion })
}

/** Returns the newest link that undoes a change of a user's account. */
export async function newestUndo(app: TestApp, { id: userId }: Pick<TestUser, 'id'>) {
  const changes = app.db.selectFrom('email_changes').select('id').where('user_id', '=', userId)
  const { id } = await changes.orderBy('number', 'desc').executeTakeFirstOrThrow()
  return { id, secret: app.undoSecretFor(id) }
}

export function passPasskeyTime({ db }: TestApp, seconds: number): Promise<void> {
  return passTime(db, seconds, 'passkey_operations', 'expires_at', 'redeemed_at')
}
