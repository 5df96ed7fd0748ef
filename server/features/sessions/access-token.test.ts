import { createSecretKey } from 'node:crypto'
import { expect, test } from 'vitest'
import { deriveKey } from '../../kernel/config/app-secret.ts'
import { LEFT_OUT } from '../../operations/backup/tables.repository.ts'
import type { TestUser } from '../../testing/client.ts'
import { isSignedIn } from '../../testing/email-change-calls.ts'
import { appForFile, appForTest, SECRET } from '../../testing/test-app.ts'
import { accessTokenKey, signAccessToken } from './authenticator.ts'
import { refresh } from './sessions.fixture.ts'
import { selectTokenKey } from './sessions.repository.ts'

const app = await appForFile()

const bareKey = (secret: string) => createSecretKey(deriveKey(secret, 'access-token'))

/** Returns the user with a token that is signed with this key. */
function signedWith(key: ReturnType<typeof bareKey>, { token }: TestUser, seconds = 300) {
  const [userId = '', sessionId = ''] = token.split('.')
  return signAccessToken({ userId, sessionId }, { key, seconds }).accessToken
}

test('an access token is valid for 5 minutes', async () => {
  const { body } = await refresh(app, await app.signUp())
  const seconds = body.accessToken.expiresAt - Date.now() / 1000
  expect(seconds).toBeGreaterThan(280)
  expect(seconds).toBeLessThanOrEqual(300)
})

test('an expired token is 401 even though its session is live', async () => {
  const late = await appForTest({ config: { accessTokenSeconds: -1 } })
  const olga = await late.signUp()
  expect(await isSignedIn(late, olga)).toBe(false)
  expect((await refresh(late, olga)).status).toBe(200)
})

test('a token that was changed, unsigned, too long-lived or signed by another secret or by what a backup contains is 401', async () => {
  const olga = await app.signUp()
  const petr = await app.signUp()
  const [userId = '', sessionId = '', expiresAt = '', mac = ''] = olga.token.split('.')
  const key = accessTokenKey(SECRET, await selectTokenKey(app.db))
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
  }
  for (const right of [olga, signedWith(key, olga)]) expect(await isSignedIn(app, right)).toBe(true)
  expect(LEFT_OUT).toContain('access_token_key')
})
