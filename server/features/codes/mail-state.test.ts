import { expect, onTestFinished, test } from 'vitest'
import { expectRefusal } from '../../testing/expect-refusal.ts'
import { openMailbox } from '../../testing/mailbox.ts'
import { passCodeTime, passLimitTime } from '../../testing/passing-time.ts'
import { startAt } from '../../testing/sign-in-calls.ts'
import { openRefusingSmtp, openStuckSmtp } from '../../testing/smtp-faults.ts'
import { appForTest, mailAppForTest, type TestApp } from '../../testing/test-app.ts'

const EMAIL = 'olga@example.org'

function askState(app: TestApp, id: string, clientToken = 'one browser') {
  return app.call('POST', `/codes/${id}/mail`, { body: { clientToken } })
}

async function stateOf(app: TestApp, id: string): Promise<string> {
  const { status, body } = await askState(app, id)
  expect(status).toBe(200)
  return body.state
}

test('a mail is queued, then sent', async () => {
  const mailbox = await openMailbox()
  onTestFinished(() => mailbox.close())
  const slow = await openStuckSmtp(Number(new URL(mailbox.url).port))
  onTestFinished(() => slow.close())
  const app = await appForTest({ config: { smtpUrl: slow.url } })
  const { id } = (await startAt(app, '/registrations', { email: EMAIL })).body
  await slow.caught
  expect(await stateOf(app, id)).toBe('queued')
  slow.letGo()
  await expect.poll(() => stateOf(app, id)).toBe('sent')
})

test('a mail to an address that does not exist is refused; a new start queues it again', async () => {
  const refusing = await openRefusingSmtp({ code: 550, words: '5.1.1 unknown' })
  onTestFinished(() => refusing.close())
  const app = await appForTest({ config: { smtpUrl: `smtp://127.0.0.1:${refusing.port}` } })
  const { id } = (await startAt(app, '/registrations', { email: EMAIL })).body
  await expect.poll(() => stateOf(app, id)).toBe('refused')

  await passCodeTime(app, 61)
  await passLimitTime(app, 61)
  await startAt(app, '/registrations', { email: EMAIL })
  await expect.poll(() => refusing.counts.refusals).toBe(2)
  await expect.poll(() => stateOf(app, id)).toBe('refused')
})

test('login, registration and e-mail change all have a mail state', async () => {
  const { app } = await mailAppForTest()
  const olga = await app.signIn(EMAIL, 'one browser')
  const change = await app.call('PUT', '/users/current/email', {
    token: olga.token,
    body: { email: 'new@example.org', clientToken: 'one browser' },
  })
  const login = await startAt(app, '/logins', { email: EMAIL })
  const registration = await startAt(app, '/registrations', { email: 'petr@example.org' })
  for (const { body } of [change, login, registration]) {
    await expect.poll(() => stateOf(app, body.id)).toBe('sent')
  }
})

test('only the client that started an operation can read its mail state, and only until it expires', async () => {
  const { app } = await mailAppForTest()
  const { id } = (await startAt(app, '/registrations', { email: EMAIL })).body
  expectRefusal(await askState(app, id, 'another browser'), 'OPERATION_EXPIRED')
  expectRefusal(await askState(app, 'nobody-started-this'), 'OPERATION_EXPIRED')
  expect((await askState(app, id)).status).toBe(200)
  await passCodeTime(app, 601)
  expectRefusal(await askState(app, id), 'OPERATION_EXPIRED')
})
