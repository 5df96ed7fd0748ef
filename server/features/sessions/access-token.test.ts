import { createSecretKey } from 'node:crypto'
import { expect, test } from 'vitest'
import { deriveKey } from '../../kernel/config/app-secret.ts'
import { LEFT_OUT } from '../../operations/backup/tables.repository.ts'
import { expectRefusal } from '../../testing/expect-refusal.ts'
import { appForFile, appForTest, SECRET, type TestApp } from '../../testing/test-app.ts'
import { accessTokenKey, signAccessToken } from './authenticator.ts'
import { refresh } from './sessions.fixture.ts'
import { selectTokenKey } from './sessions.repository.ts'

const app = await appForFile()

function readAccount(on: TestApp, token: string) {
  return on.call('GET', '/users/current', { token })
}

async function lifetimeOf(on: TestApp): Promise<number> {
  const { body } = await refresh(on, await on.signUp())
  return body.accessToken.expiresAt - Date.now() / 1000
}

test('an access token is valid for 5 minutes', async () => {
  const seconds = await lifetimeOf(app)
  expect(seconds).toBeGreaterThan(280)
  expect(seconds).toBeLessThanOrEqual(300)
})

test('an expired token is 401 even though its session is live', async () => {
  const late = await appForTest({ config: { accessTokenSeconds: -1 } })
  const olga = await late.signUp()
  expectRefusal(await readAccount(late, olga.token), 'UNAUTHORIZED')
  expect((await refresh(late, olga)).status).toBe(200)
})

test('a token that was changed, unsigned or signed by another secret is 401', async () => {
  const { token } = await app.signUp()
  const petr = await app.signUp()
  const [userId = '', sessionId = '', expiresAt = '', mac = ''] = token.split('.')
  const { accessToken: bySomebody } = signAccessToken(
    { userId, sessionId },
    {
      key: createSecretKey(deriveKey('a-secret-of-somebody-else-0123456789', 'access-token')),
      seconds: 300,
    },
  )

  for (const forged of [
    [petr.id, sessionId, expiresAt, mac].join('.'),
    [userId, petr.token.split('.')[1], expiresAt, mac].join('.'),
    [userId, sessionId, Number(expiresAt) + 60, mac].join('.'),
    [userId, sessionId, expiresAt, ''].join('.'),
    `${token}=`,
    bySomebody.token,
    'noise',
  ]) {
    expectRefusal(await readAccount(app, forged), 'UNAUTHORIZED')
  }
  expect((await readAccount(app, token)).status).toBe(200)
})

test('a token that expires later than a fresh one would is 401, though its signature is right', async () => {
  const { token } = await app.signUp()
  const [userId = '', sessionId = ''] = token.split('.')
  const viewer = { userId, sessionId }
  const key = accessTokenKey(SECRET, await selectTokenKey(app.db))
  const signed = (seconds: number) => signAccessToken(viewer, { key, seconds }).accessToken.token
  expect((await readAccount(app, signed(300))).status).toBe(200)
  expectRefusal(await readAccount(app, signed(86_400 * 365)), 'UNAUTHORIZED')
})

test('the secret and all that a backup contains sign no access token', async () => {
  const { token } = await app.signUp()
  const [userId = '', sessionId = ''] = token.split('.')
  const key = createSecretKey(deriveKey(SECRET, 'access-token'))
  const forged = signAccessToken({ userId, sessionId }, { key, seconds: 300 })
  expectRefusal(await readAccount(app, forged.accessToken.token), 'UNAUTHORIZED')
  expect(LEFT_OUT).toContain('access_token_key')
})
