import { expect, onTestFinished, test } from 'vitest'
import { expectRefusal } from '../../testing/expect-refusal.ts'
import { openMailbox } from '../../testing/mailbox.ts'
import { passLimitTime, passRequestTime } from '../../testing/passing-time.ts'
import { startAt, verifyAt } from '../../testing/sign-in-calls.ts'
import { openRefusingSmtp } from '../../testing/smtp-faults.ts'
import { appForTest, type TestApp } from '../../testing/test-app.ts'

const EMAIL = 'olga@example.org'
const MINUTE = 60

function askMail(app: TestApp, id: string) {
  return app.call('POST', `/codes/${id}/mail`, { body: { clientToken: 'one browser' } })
}

/** Waits until an operation's mail has a state. Returns how many minutes the operation has left. */
async function minutesLeft(app: TestApp, id: string, state: string): Promise<number> {
  await expect.poll(async () => (await askMail(app, id)).body.state).toBe(state)
  const { body } = await askMail(app, id)
  return (body.expiresAt - Date.now() / 1000) / MINUTE
}

/** A server that greylists (451), and what happens once it accepts. */
async function greylistedApp() {
  const greylisting = await openRefusingSmtp({ code: 451, words: '4.7.1 Greylisted' })
  const app = await appForTest({ config: { smtpUrl: `smtp://127.0.0.1:${greylisting.port}` } })
  const accept = async () => {
    await greylisting.close()
    const mailbox = await openMailbox(greylisting.port)
    onTestFinished(() => mailbox.close())
    return mailbox
  }
  return { app, accept }
}

test('the ten minutes of a code begin when its mail is accepted, however long that took', async () => {
  const { app, accept } = await greylistedApp()
  const { id } = (await startAt(app, '/registrations', { email: EMAIL })).body
  expect(await minutesLeft(app, id, 'retrying')).toBeGreaterThan(19)
  await passRequestTime(app, 8 * MINUTE)
  const mailbox = await accept()
  const code = await mailbox.codeFor(EMAIL)
  const left = await minutesLeft(app, id, 'sent')
  expect(left).toBeGreaterThan(9)
  expect(left).toBeLessThanOrEqual(10.1)
  await passRequestTime(app, 9 * MINUTE)
  expect((await verifyAt(app, '/registrations', { id, code })).status).toBe(200)
})

test('a code lives for 20 minutes from its request at most; asked for again while it waits, it comes once', async () => {
  const { app, accept } = await greylistedApp()
  const { id } = (await startAt(app, '/registrations', { email: EMAIL })).body
  await minutesLeft(app, id, 'retrying')
  await passRequestTime(app, 15 * MINUTE)
  await passLimitTime(app, 15 * MINUTE)
  const again = await startAt(app, '/registrations', { email: EMAIL })
  expect(again.body.id).toBe(id)

  const mailbox = await accept()
  await mailbox.codeFor(EMAIL)
  expect(await minutesLeft(app, id, 'sent')).toBeLessThanOrEqual(5.1)
  await startAt(app, '/registrations', { email: 'last@example.org' })
  await mailbox.codeFor('last@example.org')
  expect(mailbox.mails.map(({ to }) => to)).toEqual([EMAIL, 'last@example.org'])
  await passRequestTime(app, 6 * MINUTE)
  expectRefusal(await askMail(app, id), 'OPERATION_EXPIRED')
})
