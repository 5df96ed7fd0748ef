import { expect, test } from 'vitest'
import type { Session } from '../../../contract/sessions.ts'
import { leave } from '../../testing/calls/account-deletion-calls.ts'
import { changeEmail, isSignedIn, undoChange } from '../../testing/calls/email-change-calls.ts'
import { signUpModerator } from '../../testing/calls/moderation-calls.ts'
import { passSessionTime, passTime } from '../../testing/database/passing-time.ts'
import { DEVICE, type TestUser } from '../../testing/http/client.ts'
import { expectRefusal } from '../../testing/http/expect-refusal.ts'
import { appForFile } from '../../testing/test-app.ts'
import { refresh, signInTwice } from './sessions.fixture.ts'
import { isSessionOpen, removeExpiredSessions } from './sessions.repository.ts'

const app = await appForFile()

async function sessionsOf({ token }: TestUser): Promise<Session[]> {
  return (await app.call('GET', '/sessions', { token })).body.sessions
}

test('the list shows each live session with its device and time, first the current one, which is not closed by its id', async () => {
  const [laptop, phone] = await signInTwice(app)
  const [first, second, ...rest] = await sessionsOf(laptop)
  expect(rest).toEqual([])
  expect(first).toMatchObject({ current: true, device: DEVICE })
  expect(second).toMatchObject({ current: false, device: DEVICE })
  expect(Math.abs((first?.createdAt ?? 0) - Date.now() / 1000)).toBeLessThan(60)
  expect((await sessionsOf(phone)).map(({ id }) => id)).toEqual([second?.id, first?.id])
  const closing = await app.call('DELETE', `/sessions/${first?.id}`, { token: laptop.token })
  expectRefusal(closing, 'CURRENT_SESSION')
  expect(await isSignedIn(app, laptop)).toBe(true)
})

test('logging out closes the current session and no other', async () => {
  const [laptop, phone] = await signInTwice(app)
  expect((await app.call('DELETE', '/sessions/current', { token: laptop.token })).status).toBe(204)
  expect(await isSignedIn(app, laptop)).toBe(false)
  expectRefusal(await refresh(app, laptop), 'UNAUTHORIZED')
  expect(await isSignedIn(app, phone)).toBe(true)
  // Changes that have waited for the logout ask again.
  const isOpen = ({ token }: TestUser) => {
    const [userId = '', sessionId = ''] = token.split('.')
    return isSessionOpen(app.db, { userId, sessionId })
  }
  expect([await isOpen(laptop), await isOpen(phone)]).toEqual([false, true])
})

const closeOthers = ({ token }: TestUser) => app.call('DELETE', '/sessions', { token })

const BY_ANOTHER_DEVICE = 'Сессия завершена с другого устройства'

async function expectClosed(user: TestUser, message = BY_ANOTHER_DEVICE): Promise<void> {
  const answer = await refresh(app, user)
  expectRefusal(answer, 'SESSION_CLOSED')
  expect(answer.body.message).toBe(message)
}

test('closing all others leaves the current session and those of other users; a closed one answers so, as often as it is asked, but not to its id alone', async () => {
  const [laptop, phone] = await signInTwice(app)
  const tablet = await app.signIn(laptop.email, 'tablet')
  const petr = await app.signUp()
  const [, newest] = await sessionsOf(laptop)
  const closed = await app.call('DELETE', `/sessions/${newest?.id}`, { token: laptop.token })
  expect([closed.status, await isSignedIn(app, tablet)]).toEqual([204, false])
  await expectClosed(tablet)
  expect((await closeOthers(laptop)).status).toBe(204)
  expect(await sessionsOf(laptop)).toMatchObject([{ current: true }])
  expect(await isSignedIn(app, phone)).toBe(false)
  for (const other of [phone, tablet]) await expectClosed(other)
  for (const open of [laptop, petr]) expect((await refresh(app, open)).status).toBe(200)
  const cookie = phone.cookie.replace(/\.[\w-]+$/, `.${'x'.repeat(43)}`)
  expectRefusal(await refresh(app, { ...phone, cookie }), 'UNAUTHORIZED')
})

test('a block, the undo of an e-mail change and a deletion state on every device why its session is closed', async () => {
  const { token } = await signUpModerator(app)
  const spammer = await app.signUp()
  const block = { token, body: { reason: 'Спам.', days: 7 } }
  await app.call('PUT', `/moderation/users/${spammer.id}/block`, block)
  await expectClosed(spammer, 'Сессия завершена модератором. Причина: Спам')
  const [laptop, phone] = await signInTwice(app)
  await undoChange(app, await changeEmail(app, laptop, 'thief@example.org'))
  for (const user of [laptop, phone]) {
    await expectClosed(user, 'Сессия завершена: изменение в аккаунте отменено')
  }
  const tablet = await app.signIn(laptop.email, 'tablet')
  expect((await leave(app, tablet)).status).toBe(200)
  await expectClosed(tablet, 'Сессия завершена: аккаунт удалён')
})

test('a browser that has not got its last cookie reads the reason too, for 90 days', async () => {
  const [laptop, phone] = await signInTwice(app)
  await passSessionTime(app, 601)
  expect((await refresh(app, phone)).cookie).not.toBe(phone.cookie)
  await closeOthers(laptop)
  const passDays = async (days: number) => {
    await passTime(app.db, days * 86_400, 'closed_sessions', 'closed_at')
    await removeExpiredSessions(app.db)
  }
  await passDays(89)
  await expectClosed(phone)
  await passDays(2)
  expectRefusal(await refresh(app, phone), 'UNAUTHORIZED')
})
