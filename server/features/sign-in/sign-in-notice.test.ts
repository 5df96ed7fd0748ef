import { expect, test } from 'vitest'
import { mailHealth } from '../../kernel/mail/mail-log.repository.ts'
import type { TestUser } from '../../testing/client.ts'
import { isSignedIn } from '../../testing/email-change-calls.ts'
import { expectRefusal } from '../../testing/expect-refusal.ts'
import type { ReceivedMail } from '../../testing/mailbox.ts'
import { mailAppForTest } from '../../testing/test-app.ts'
import { openBrowser, refresh } from '../sessions/sessions.fixture.ts'

const isNotice = ({ subject }: ReceivedMail) => /^Вход с нового устройства/.test(subject)

test('a sign-in by an unknown client is followed by one notice with its time, its device and the page to close it', async () => {
  const origin = 'https://vsluh.example'
  const contactEmail = 'help@vsluh.example'
  const { app, mailbox } = await mailAppForTest({ publicUrl: origin, contactEmail })
  const email = 'olga@example.org'
  const home = openBrowser(app, { email, clientToken: 'at home', origin })
  const abroad = openBrowser(app, { email, clientToken: 'abroad', origin })
  await home.signIn('/registrations')
  await home.signIn()
  const { token } = (await abroad.signIn()).body.accessToken
  expect((await abroad.signIn()).status).toBe(200)
  const { body: user } = await app.call('GET', '/users/current', { token })

  await expect.poll(async () => (await mailHealth(app.db)).waiting).toBe(0)
  // Codes for four sign-ins, and the notice of one of them.
  expect(mailbox.mails).toHaveLength(5)
  const text = expect.stringMatching(/\d+ [а-я]+ в \d\d:\d\d по Москве, Firefox, Linux/)
  expect(mailbox.mails.filter(isNotice)).toMatchObject([{ to: email, text }])
  const notice = mailbox.mails.find(isNotice)?.text
  for (const part of [user.username, '\nhttps://vsluh.example/settings/devices\n', contactEmail]) {
    expect(notice).toContain(part)
  }
})

test('a user has at most 10 sessions: the eleventh closes the oldest, which only its notice mentions', async () => {
  const { app, mailbox } = await mailAppForTest()
  const users: TestUser[] = []
  for (let device = 1; device <= 11; device++) {
    users.push(await app.signIn('many@example.org', `device ${device}`))
  }
  const signedIn = await Promise.all(users.map((user) => isSignedIn(app, user)))
  expect(signedIn).toEqual([false, ...Array(10).fill(true)])
  expectRefusal(await refresh(app, users[0] as TestUser), 'UNAUTHORIZED')
  const { token } = users[10] as TestUser
  expect((await app.call('GET', '/sessions', { token })).body.sessions).toHaveLength(10)
  const notices = () => mailbox.mails.filter(isNotice)
  await expect.poll(() => notices().length).toBe(10)
  const closed = /Сессий может быть не больше 10, поэтому самая старая завершена\./
  expect(notices().filter(({ text }) => closed.test(text))).toHaveLength(1)
})
