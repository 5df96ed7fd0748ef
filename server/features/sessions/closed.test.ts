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

const BY_ANOTHER_DEVICE = 'Сессия завершена с другого устройства'

test('a session closed by another device answers so, as often as it is asked', async () => {
  const [laptop, phone] = await signInTwice(app)
  const tablet = await app.signIn(laptop.email, 'tablet')
  const { body } = await app.call('GET', '/sessions', { token: laptop.token })
  await app.call('DELETE', `/sessions/${body.sessions[1].id}`, { token: laptop.token })
  await expectClosed(tablet, BY_ANOTHER_DEVICE)
  await closeOthers(laptop)
  for (const other of [phone, tablet]) await expectClosed(other, BY_ANOTHER_DEVICE)
  expect((await refresh(app, laptop)).status).toBe(200)
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

test('a deleted account answers so on every device, and so does the undo of an e-mail change', async () => {
  const { app, mailbox } = await mailAppForTest()
  const [laptop, phone] = await signInTwice(app)
  const link = await changeEmail({ app, mailbox }, laptop, { email: 'thief@example.org' })
  await undoChange(app, link)
  for (const user of [laptop, phone]) {
    await expectClosed(user, 'Сессия завершена: смена почты отменена', app)
  }
  const tablet = await app.signIn(laptop.email, 'tablet')
  expect((await leave(app, tablet)).status).toBe(200)
  await expectClosed(tablet, 'Сессия завершена: аккаунт удалён', app)
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
  await expectClosed(phone, BY_ANOTHER_DEVICE)
})

test('after 90 days nothing is kept of a closed session', async () => {
  const [laptop, phone] = await signInTwice(app)
  await closeOthers(laptop)
  const age = (days: number) =>
    sql`UPDATE closed_sessions SET closed_at = now() - ${days} * interval '1 day'`.execute(app.db)
  await age(89)
  await removeExpiredSessions(app.db)
  await expectClosed(phone, BY_ANOTHER_DEVICE)
  await age(91)
  await removeExpiredSessions(app.db)
  expectRefusal(await refresh(app, phone), 'UNAUTHORIZED')
})
