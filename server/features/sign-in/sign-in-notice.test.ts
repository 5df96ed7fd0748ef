import { expect, test } from 'vitest'
import { mailHealth } from '../../kernel/mail/mail-log.repository.ts'
import { browserOf, DEVICE } from '../../testing/client.ts'
import type { ReceivedMail } from '../../testing/mailbox.ts'
import { startAt } from '../../testing/sign-in-calls.ts'
import { mailAppForTest } from '../../testing/test-app.ts'

const isNotice = ({ subject }: ReceivedMail) => /^Вход с нового устройства/.test(subject)

test('a sign-in by an unknown client is followed by one notice, which says when, by what, and how to close it', async () => {
  const { app, mailbox } = await mailAppForTest({
    publicUrl: 'https://vsluh.example',
    contactEmail: 'help@vsluh.example',
  })
  const email = 'olga@example.org'
  const browsers = new Map<string, string>()
  const logIn = async (clientToken: string) => {
    const cookie = browsers.get(clientToken) ?? ''
    const headers = { origin: 'https://vsluh.example', cookie }
    const sentStart = { email, clientToken, device: DEVICE }
    const { body } = await app.call('POST', '/logins', { body: sentStart, headers })
    const sent = { confirmCode: app.codeFor(body.id), clientToken }
    const answer = await app.call('POST', `/logins/${body.id}/verify`, { body: sent, headers })
    expect(answer.status).toBe(200)
    browsers.set(clientToken, browserOf(answer))
    return answer.body.accessToken.token as string
  }
  const { body } = await startAt(app, '/registrations', { email, clientToken: 'at home' })
  const verified = await app.call('POST', `/registrations/${body.id}/verify`, {
    body: { confirmCode: app.codeFor(body.id), clientToken: 'at home' },
    headers: { origin: 'https://vsluh.example' },
  })
  browsers.set('at home', browserOf(verified))
  await logIn('at home')
  const token = await logIn('abroad')
  await logIn('abroad')
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
  expect(text).toContain('help@vsluh.example')
})

test('the notice says that the eleventh session has closed the oldest, and the tenth says nothing of it', async () => {
  const { app, mailbox } = await mailAppForTest()
  const email = 'many@example.org'
  for (let device = 1; device <= 11; device++) await app.signIn(email, `device ${device}`)
  const notices = () => mailbox.mails.filter(isNotice)
  await expect.poll(() => notices().length, { timeout: 15_000 }).toBe(10)
  const closed = /Сессий может быть не больше 10, поэтому самая старая завершена\./
  expect(notices().map(({ text }) => closed.test(text))).toEqual([...Array(9).fill(false), true])
})
