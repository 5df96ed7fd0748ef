import { expect, test } from 'vitest'
import { mailHealth } from '../../kernel/mail/mail-log.repository.ts'
import type { ReceivedMail } from '../../testing/mailbox.ts'
import { mailAppForTest } from '../../testing/test-app.ts'
import { openBrowser } from '../sessions/sessions.fixture.ts'

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
  const notices = mailbox.mails.filter(isNotice)
  expect(notices).toHaveLength(1)
  const [{ to, text, autoSubmitted } = { to: '', text: '', autoSubmitted: '' }] = notices
  expect({ to, autoSubmitted }).toEqual({ to: email, autoSubmitted: 'auto-generated' })
  expect(text).toContain(user.username)
  expect(text).toMatch(/\d+ [а-я]+ в \d\d:\d\d по Москве, Firefox, Linux/)
  expect(text).toContain('\nhttps://vsluh.example/settings/devices\n')
  expect(text).toContain(contactEmail)
})

test('the notice of the eleventh session mentions that it has closed the oldest; earlier notices do not', async () => {
  const { app, mailbox } = await mailAppForTest()
  for (let device = 1; device <= 11; device++) {
    await app.signIn('many@example.org', `device ${device}`)
  }
  const notices = () => mailbox.mails.filter(isNotice)
  await expect.poll(() => notices().length).toBe(10)
  const closed = /Сессий может быть не больше 10, поэтому самая старая завершена\./
  expect(notices().filter(({ text }) => closed.test(text))).toHaveLength(1)
})
