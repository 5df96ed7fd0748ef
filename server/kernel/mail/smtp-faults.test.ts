import { expect, test } from 'vitest'
import { checkMailQueue } from '../../operations/doctor/mail-checks.ts'
import { startAt } from '../../testing/calls/sign-in-calls.ts'
import { mailboxForTest } from '../../testing/mail/mailbox.ts'
import { freePort } from '../../testing/process/free-port.ts'
import { appForTest, mailAppForTest, type TestApp } from '../../testing/test-app.ts'
import { readMailHealth } from './mail-log.repository.ts'
import { queueMail, wakeSenders } from './queue-mail.ts'

const EMAIL = 'olga@example.org'
const urlOf = (port: number) => `smtp://127.0.0.1:${port}`

/** Starts three sign-ins, of EMAIL first. Returns its id. The fastest answer comes within 300 ms. */
async function startFast(app: TestApp): Promise<string> {
  const ids: string[] = []
  const times: number[] = []
  for (const email of [EMAIL, 'petr@example.org', 'vera@example.org']) {
    const since = performance.now()
    const { status, body } = await startAt(app, '/registrations', { email })
    times.push(performance.now() - since)
    expect(status).toBe(201)
    ids.push(body.id)
  }
  expect(Math.min(...times)).toBeLessThan(300)
  return ids[0] ?? ''
}

test('with SMTP down, a start returns within 300 ms, and the mail arrives once SMTP is back', async () => {
  const port = await freePort()
  const app = await appForTest({ config: { smtpUrl: urlOf(port) } })
  const id = await startFast(app)
  const failed = () => app.sql`SELECT FROM outbox WHERE state = 'retrying'`
  await expect.poll(failed).toHaveLength(3)

  const mailbox = await mailboxForTest(port)
  expect(await mailbox.codeFor(EMAIL)).toBe(app.codeFor(id))
  await app.logLine('mail sent', 3)
  expect(mailbox.mails).toHaveLength(3)
})

test('with SMTP stuck, a start returns within 300 ms, and the mail arrives once SMTP continues', async () => {
  const { app, mailbox } = await mailAppForTest({}, { isHeld: true })
  const id = await startFast(app)
  await mailbox.caught
  mailbox.letGo()
  expect(await mailbox.codeFor(EMAIL)).toBe(app.codeFor(id))
})

test.each([
  { code: 451 },
  { code: 554, at: 'connect' },
  { code: 550, words: '5.4.5 Daily user sending quota exceeded', at: 'message' },
] as const)(
  'with SMTP refusing $code for now, a start returns within 300 ms, and the mail arrives once SMTP accepts it',
  async (refusal) => {
    const { app, mailbox } = await mailAppForTest({}, { refusal })
    const id = await startFast(app)
    await expect.poll(() => mailbox.counts.refusals).toBeGreaterThan(0)
    mailbox.accept()
    expect(await mailbox.codeFor(EMAIL)).toBe(app.codeFor(id))
  },
)

test('a code for a full mailbox is retried every 15 s, a notice every 5 minutes, about which the doctor is silent', async () => {
  const { app } = await mailAppForTest({}, { refusal: { code: 552, words: '5.2.2 Mailbox full' } })
  await startAt(app, '/registrations', { email: EMAIL })
  const expiresAt = Date.now() + 86_400_000
  const notice = { to: 'petr@example.org', username: 'olga_1', changeId: 'x', expiresAt }
  await queueMail(app.db, 'send-email-notice', notice)
  await app.logLine('mail not sent, will retry', 2)
  await app.sql`UPDATE outbox
    SET tries = 9, due_at = now(), queued_at = now() - interval '1 hour'`
  await wakeSenders(app.db)
  const pauses = () => app.sql`SELECT is_urgent, extract(epoch FROM due_at - at)::int AS seconds
    FROM outbox WHERE tries = 10 ORDER BY is_urgent`
  await expect.poll(pauses).toEqual([
    { is_urgent: false, seconds: 300 },
    { is_urgent: true, seconds: 15 },
  ])
  expect(checkMailQueue(await readMailHealth(app.db))).toMatchObject({ level: 'broken' })
  await app.sql`DELETE FROM outbox WHERE is_urgent`
  expect(checkMailQueue(await readMailHealth(app.db))).toMatchObject({ level: 'ok' })
})
