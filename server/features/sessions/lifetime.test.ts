import { expect, test } from 'vitest'
import { isSignedIn } from '../../testing/email-change-calls.ts'
import { expectRefusal } from '../../testing/expect-refusal.ts'
import { passSessionTime } from '../../testing/passing-time.ts'
import { appForFile } from '../../testing/test-app.ts'
import { refresh } from './sessions.fixture.ts'

const DAY = 86_400

const app = await appForFile()

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
