import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { leave } from '../../testing/account-deletion-calls.ts'
import type { TestUser } from '../../testing/client.ts'
import { changeEmail, undoChange } from '../../testing/email-change-calls.ts'
import { expectRefusal } from '../../testing/expect-refusal.ts'
import { signUpModerator } from '../../testing/moderation-calls.ts'
import { passSessionTime } from '../../testing/passing-time.ts'
import { appForFile, mailAppForTest } from '../../testing/test-app.ts'
import { refresh, signInTwice } from './sessions.fixture.ts'
import { removeExpiredSessions } from './sessions.repository.ts'

const app = await appForFile()

const closeOthers = ({ token }: TestUser) => app.call('DELETE', '/sessions', { token })

async function expectClosed(user: TestUser, message: string, on = app): Promise<void> {
  const answer = await refresh(on, user)
  expectRefusal(answer, 'SESSION_CLOSED')
  expect(answer.body.message).toBe(message)
}

test('a session closed by another device answers so, as often as it is asked, and its tokens are UNAUTHORIZED', async () => {
  const [laptop, phone] = await signInTwice(app)
  const { body } = await app.call('GET', '/sessions', { token: laptop.token })
  await app.call('DELETE', `/sessions/${body.sessions[1].id}`, { token: laptop.token })
  await expectClosed(phone, 'Сессия завершена с другого устройства')
  await expectClosed(phone, 'Сессия завершена с другого устройства')
  expectRefusal(await app.call('GET', '/sessions', { token: phone.token }), 'UNAUTHORIZED')
  expect((await refresh(app, laptop)).status).toBe(200)
})

test('closing all others answers each of them so', async () => {
  const [laptop, phone] = await signInTwice(app)
  const tablet = await app.signIn(laptop.email, 'tablet')
  await closeOthers(laptop)
  for (const other of [phone, tablet]) {
    await expectClosed(other, 'Сессия завершена с другого устройства')
  }
})

test('a blocked person reads the reason', async () => {
  const moderator = await signUpModerator(app)
  const user = await app.signUp()
  await app.call('PUT', `/moderation/users/${user.id}/block`, {
    token: moderator.token,
    body: { reason: 'Спам.', days: 7 },
  })
  await expectClosed(user, 'Сессия завершена модератором. Причина: Спам')
})

test('a deleted account answers so on every device', async () => {
  const [laptop, phone] = await signInTwice(app)
  expect((await leave(app, laptop)).status).toBe(200)
  for (const user of [laptop, phone]) {
    await expectClosed(user, 'Сессия завершена: аккаунт удалён')
  }
})

test('the undo of an e-mail change answers so on every device', async () => {
  const mailed = await mailAppForTest()
  const olga = await mailed.app.signUp()
  const link = await changeEmail(mailed, olga, { email: 'thief@example.org' })
  await undoChange(mailed.app, link)
  await expectClosed(olga, 'Сессия завершена: смена почты отменена', mailed.app)
})

const ENDS: Record<string, (user: TestUser) => Promise<unknown>> = {
  async 'has expired'() {
    await passSessionTime(app, 31 * 86_400)
    await removeExpiredSessions(app.db)
  },
  'was logged out': ({ token }) => app.call('DELETE', '/sessions/current', { token }),
  async 'made room for the eleventh'({ email }) {
    for (let more = 0; more < 10; more++) await app.signIn(email)
  },
}

test.each(Object.entries(ENDS))('a session that %s is UNAUTHORIZED', async (_how, end) => {
  const olga = await app.signUp()
  await end(olga)
  expectRefusal(await refresh(app, olga), 'UNAUTHORIZED')
})

test('the id of a closed session without its secret reveals nothing', async () => {
  const [laptop, phone] = await signInTwice(app)
  await closeOthers(laptop)
  const cookie = phone.cookie.replace(/\.[\w-]+$/, `.${'x'.repeat(43)}`)
  expectRefusal(await refresh(app, { ...phone, cookie }), 'UNAUTHORIZED')
})

test('a browser that has not got its last cookie reads the reason too', async () => {
  const [laptop, phone] = await signInTwice(app)
  await passSessionTime(app, 601)
  expect((await refresh(app, phone)).cookie).not.toBe(phone.cookie)
  await closeOthers(laptop)
  await expectClosed(phone, 'Сессия завершена с другого устройства')
})

test('after 90 days nothing is kept of a closed session', async () => {
  const [laptop, phone] = await signInTwice(app)
  await closeOthers(laptop)
  const age = (days: number) =>
    sql`UPDATE closed_sessions SET closed_at = now() - ${days} * interval '1 day'`.execute(app.db)
  await age(89)
  await removeExpiredSessions(app.db)
  await expectClosed(phone, 'Сессия завершена с другого устройства')
  await age(91)
  await removeExpiredSessions(app.db)
  expectRefusal(await refresh(app, phone), 'UNAUTHORIZED')
})
