import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { leave } from '../../testing/account-deletion-calls.ts'
import type { TestUser } from '../../testing/client.ts'
import { changeEmail, undoChange } from '../../testing/email-change-calls.ts'
import { expectRefusal } from '../../testing/expect-refusal.ts'
import { signUpModerator } from '../../testing/moderation-calls.ts'
import { passSessionTime } from '../../testing/passing-time.ts'
import { appForFile } from '../../testing/test-app.ts'
import { refresh, signInTwice } from './sessions.fixture.ts'
import { removeExpiredSessions } from './sessions.repository.ts'

const app = await appForFile()

const closeOthers = ({ token }: TestUser) => app.call('DELETE', '/sessions', { token })

const BY_ANOTHER_DEVICE = 'Сессия завершена с другого устройства'

async function expectClosed(user: TestUser, message = BY_ANOTHER_DEVICE): Promise<void> {
  const answer = await refresh(app, user)
  expectRefusal(answer, 'SESSION_CLOSED')
  expect(answer.body.message).toBe(message)
}

test('a session closed by another device answers so, as often as it is asked; its id without its secret reveals nothing', async () => {
  const [laptop, phone] = await signInTwice(app)
  const tablet = await app.signIn(laptop.email, 'tablet')
  const { body } = await app.call('GET', '/sessions', { token: laptop.token })
  await app.call('DELETE', `/sessions/${body.sessions[1].id}`, { token: laptop.token })
  await expectClosed(tablet)
  await closeOthers(laptop)
  for (const other of [phone, tablet]) await expectClosed(other)
  expect((await refresh(app, laptop)).status).toBe(200)
  const cookie = phone.cookie.replace(/\.[\w-]+$/, `.${'x'.repeat(43)}`)
  expectRefusal(await refresh(app, { ...phone, cookie }), 'UNAUTHORIZED')
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
  const [laptop, phone] = await signInTwice(app)
  await undoChange(app, await changeEmail(app, laptop, 'thief@example.org'))
  for (const user of [laptop, phone]) {
    await expectClosed(user, 'Сессия завершена: смена почты отменена')
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
  const age = async (days: number) => {
    await sql`UPDATE closed_sessions SET closed_at = now() - ${days} * interval '1 day'`.execute(
      app.db,
    )
    await removeExpiredSessions(app.db)
  }
  await age(89)
  await expectClosed(phone)
  await age(91)
  expectRefusal(await refresh(app, phone), 'UNAUTHORIZED')
})
