import { expect, test } from 'vitest'
import type { TestUser } from '../../testing/client.ts'
import { isSignedIn } from '../../testing/email-change-calls.ts'
import { expectRefusal } from '../../testing/expect-refusal.ts'
import { passSessionTime } from '../../testing/passing-time.ts'
import { appForFile } from '../../testing/test-app.ts'
import { signInTwice } from './sessions.fixture.ts'

const app = await appForFile()

function refresh({ clientToken }: TestUser, cookie: string) {
  return app.call('PATCH', '/sessions/current', { body: { clientToken }, headers: { cookie } })
}

/** Refreshes after ten minutes, when the cookie is rotated. Returns the new cookie. */
async function rotate(user: TestUser, cookie: string): Promise<string> {
  await passSessionTime(app, 601)
  const answer = await refresh(user, cookie)
  expect(answer.status).toBe(200)
  expect(answer.cookie).toBeDefined()
  expect(answer.cookie).not.toBe(cookie)
  return answer.cookie ?? ''
}

test('a refresh returns a new access token, and does not rotate a cookie younger than 10 minutes', async () => {
  const olga = await app.signUp()
  await passSessionTime(app, 590)
  const { status, body, cookie } = await refresh(olga, olga.cookie)
  expect(status).toBe(200)
  expect(await isSignedIn(app, body.accessToken)).toBe(true)
  expect(cookie).toBeUndefined()
})

test('a cookie that was set while the clock was a day ahead is rotated once the clock is right', async () => {
  const olga = await app.signUp()
  await passSessionTime(app, -86_400)
  const { status, cookie } = await refresh(olga, olga.cookie)
  expect(status).toBe(200)
  expect(cookie).toBeDefined()
})

test('ten tabs that refresh concurrently all get a valid token, and one of them the next cookie', async () => {
  const olga = await app.signUp()
  await passSessionTime(app, 601)
  const tabs = await Promise.all(Array.from({ length: 10 }, () => refresh(olga, olga.cookie)))
  for (const { status, body } of tabs) {
    expect(status).toBe(200)
    expect(await isSignedIn(app, body.accessToken)).toBe(true)
  }
  const cookies = tabs.flatMap(({ cookie }) => cookie ?? [])
  expect(cookies).toHaveLength(1)
  expect((await refresh(olga, cookies[0] ?? '')).status).toBe(200)
})

test('a second tab can refresh with the previous cookie for 60 s after the new one was seen; later it is 401 and closes the session', async () => {
  const olga = await app.signUp()
  const next = await rotate(olga, olga.cookie)
  await refresh(olga, next)
  await passSessionTime(app, 55)
  expect((await refresh(olga, olga.cookie)).status).toBe(200)
  await passSessionTime(app, 6)
  expectRefusal(await refresh(olga, olga.cookie), 'UNAUTHORIZED')
  expectRefusal(await refresh(olga, next), 'UNAUTHORIZED')
  expect(await isSignedIn(app, olga)).toBe(false)
})

test('an older cookie is 401 and closes its own session, at once and for its tokens too', async () => {
  const [olga, phone] = await signInTwice(app)
  const second = await rotate(olga, olga.cookie)
  const third = await rotate(olga, second)
  expectRefusal(await refresh(olga, olga.cookie), 'UNAUTHORIZED')
  expectRefusal(await refresh(olga, third), 'UNAUTHORIZED')
  expect(await isSignedIn(app, olga)).toBe(false)
  expect((await refresh(phone, phone.cookie)).status).toBe(200)
})

test('a refresh whose response was lost can be repeated, even long after it; the lost cookie is invalid then', async () => {
  const olga = await app.signUp()
  const lost = await rotate(olga, olga.cookie)
  expect((await refresh(olga, olga.cookie)).status).toBe(200)

  await passSessionTime(app, 3600)
  const again = await refresh(olga, olga.cookie)
  expect(again.status).toBe(200)
  expect((await refresh(olga, again.cookie ?? '')).status).toBe(200)
  expectRefusal(await refresh(olga, lost), 'UNAUTHORIZED')
})
