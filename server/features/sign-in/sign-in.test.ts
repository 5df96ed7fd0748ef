import { expect, test } from 'vitest'
import { readMailHealth } from '../../kernel/mail/mail-log.repository.ts'
import { isSignedIn } from '../../testing/calls/email-change-calls.ts'
import { startAt, verifyAt, wrongCode } from '../../testing/calls/sign-in-calls.ts'
import type { TestUser } from '../../testing/http/client.ts'
import { expectRefusal } from '../../testing/http/expect-refusal.ts'
import type { ReceivedMail } from '../../testing/mail/mailbox.ts'
import { appForFile, mailAppForTest } from '../../testing/test-app.ts'
import { openBrowser, refresh } from '../sessions/sessions.fixture.ts'

const app = await appForFile()

test('a verified code creates an account with a free generated username, keeps the text to which the person consented, and opens a session', async () => {
  const { body } = await startAt(app, '/registrations', { email: 'new@example.org' })
  await verifyAt(app, '/registrations', { id: body.id, code: wrongCode(app.codeFor(body.id)) })
  expectRefusal(await startAt(app, '/logins', { email: 'new@example.org' }), 'USER_NOT_FOUND')
  const verified = await verifyAt(app, '/registrations', { id: body.id })
  expect(verified.status).toBe(200)
  expect(verified.cookie).toMatch(/session-0=/)
  const { token } = verified.body.accessToken
  const { body: user } = await app.call('GET', '/users/current', { token })
  expect(user).toEqual({
    id: expect.any(String),
    username: expect.stringMatching(/^[A-Za-z0-9_]{5,32}$/),
    email: 'new@example.org',
  })
  const rows = await app.sql`
    SELECT consent_version AS version, text, consented_at AS at FROM users
    JOIN consent_texts ON version = consent_version WHERE id = ${user.id}`
  const version = expect.stringMatching(/^[0-9a-f]{12}$/)
  const text = expect.stringContaining('я даю согласие')
  expect(rows).toEqual([{ version, text, at: expect.any(Date) }])
})

test('a registration with a known e-mail looks like any other and, once verified, signs in as a login does', async () => {
  const user = await app.signIn('known@example.org')
  const known = await startAt(app, '/registrations', { email: user.email })
  const unknown = await startAt(app, '/registrations', { email: 'not-known@example.org' })
  expect(known.status).toBe(unknown.status)
  expect(known.body.id).toHaveLength(unknown.body.id.length)

  for (const path of ['/registrations', '/logins'] as const) {
    const { id } = (await startAt(app, path, { email: user.email })).body
    const { body } = await verifyAt(app, path, { id })
    const { token } = body.accessToken
    expect((await app.call('GET', '/users/current', { token })).body.id).toBe(user.id)
  }
  const { body } = await app.call('GET', '/sessions', { token: user.token })
  expect(body.sessions).toHaveLength(3)
})

const isNotice = ({ subject }: ReceivedMail) => /^Вход с нового устройства/.test(subject)

test('a sign-in by an unknown client is followed by one notice with its time, its device and the page to close it', async () => {
  const origin = 'https://vsluh.example'
  const contactEmail = 'help@vsluh.example'
  const { app, mailbox } = await mailAppForTest({ publicUrl: origin, contactEmail })
  const email = 'olga@example.org'
  const home = openBrowser(app, { email, clientToken: 'at home' })
  const abroad = openBrowser(app, { email, clientToken: 'abroad' })
  await home.signIn('/registrations')
  await home.signIn()
  const { token } = (await abroad.signIn()).body.accessToken
  expect((await abroad.signIn()).status).toBe(200)
  const { body: user } = await app.call('GET', '/users/current', { token })

  await expect.poll(async () => (await readMailHealth(app.db)).waiting).toBe(0)
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
