import { expect, test } from 'vitest'
import { checkMailQueue } from '../../operations/doctor/mail-checks.ts'
import { startAt } from '../../testing/calls/sign-in-calls.ts'
import { retryMails } from '../../testing/database/passing-time.ts'
import { mailboxForTest } from '../../testing/mail/mailbox.ts'
import { freePort } from '../../testing/process/free-port.ts'
import { appForTest, mailAppForTest, SECRET, type TestApp } from '../../testing/test-app.ts'
import { deriveKey } from '../config/app-secret.ts'
import { addJob } from '../queue/queue.ts'
import { MAIL_LOG_KEY, readMailHealth, selectMailLog } from './mail-log.repository.ts'
import { hashAddress } from './outbox.repository.ts'
import { queueMail } from './queue-mail.ts'
import { maskAnswer } from './smtp-answer.ts'

const EMAIL = 'olga@example.org'

const logOf = ({ db }: TestApp, to = EMAIL) =>
  selectMailLog(db, hashAddress(to, deriveKey(SECRET, MAIL_LOG_KEY)))

test('a mail that fails first has one row, which says in the end that it was sent, after how many tries and with which answer', async () => {
  const port = await freePort()
  const app = await appForTest({ config: { smtpUrl: `smtp://127.0.0.1:${port}` } })
  await startAt(app, '/registrations', { email: EMAIL })
  const retrying = { outcome: 'retrying', error: 'ESOCKET', reply: null }
  await expect.poll(() => logOf(app)).toMatchObject([retrying])
  // The second try comes after 2 s, the third after 4 s.
  const pauses = await app.sql`SELECT extract(epoch FROM due_at - at)::int / 2 ^ tries AS half
    FROM outbox`
  expect(pauses).toEqual([{ half: 1 }])
  await app.sql`UPDATE outbox SET queued_at = queued_at - interval '1 minute'`
  expect((await readMailHealth(app.db)).oldestSeconds).toBeGreaterThan(60)
  await mailboxForTest(port)
  await retryMails(app)
  await expect.poll(() => logOf(app)).toMatchObject([{ outcome: 'sent', error: null }])
  const [row] = await logOf(app, 'OLGA@example.org')
  expect(row).toMatchObject({ task: 'send-code', masked: 'o***@example.org' })
  expect(row?.tries).toBeGreaterThan(1)
  expect(row?.answer).toMatch(/^250 /)
  expect(await logOf(app, 'petr@example.org')).toEqual([])

  await app.sql`UPDATE outbox SET at = now() - interval '15 days'`
  await addJob(app.db, 'remove-expired')
  await expect.poll(() => selectMailLog(app.db)).toEqual([])
})

test('a server that refuses the letter because of its address is asked once; its answer stands in both logs, with the address masked and without the code', async () => {
  const words = `5.1.1 <${EMAIL}>: no mailbox olga here`
  const refusal = { code: 550, words, at: 'message' } as const
  const { app } = await mailAppForTest({ logLevel: 'trace' }, { refusal })
  const { body } = await startAt(app, '/registrations', { email: EMAIL })
  const line = JSON.parse(await app.logLine('mail refused'))
  const answer = '550 5.1.1 <o***@example.org>: no mailbox *** here'
  const to = 'o***@example.org'
  expect(line).toMatchObject({ to, code: 'EMESSAGE', reply: 550, answer })
  for (const secret of [EMAIL, 'one browser', body.id, app.codeFor(body.id)]) {
    expect(app.logged.join('')).not.toContain(secret)
  }
  expect(await logOf(app)).toMatchObject([{ outcome: 'refused', reply: 550, answer, tries: 1 }])
  const rows = await app.sql`SELECT outbox::text AS all FROM outbox`
  expect(JSON.stringify(rows)).not.toMatch(/olga/i)
})

test('the doctor warns of an hour in which mails expired and none was sent', async () => {
  const app = await appForTest()
  const mail = { to: EMAIL, username: 'olga_1', changeId: 'x', expiresAt: Date.now() - 1 }
  await queueMail(app.db, 'send-email-notice', mail)
  await app.logLine('mail given up')
  const check = () => expect.poll(async () => checkMailQueue(await readMailHealth(app.db)))
  await check().toMatchObject({ level: 'warning', fix: expect.stringContaining('mail log') })
  await queueMail(app.db, 'send-email-notice', { ...mail, expiresAt: Date.now() + 60_000 })
  await check().toMatchObject({ level: 'ok' })
})

test.each([
  ['550 5.1.1 <olga@example.org> unknown', '550 5.1.1 <o***@example.org> unknown'],
  ['550 prvs=12ab=olga@example.org', '550 prvs=12ab=o***@example.org'],
  ['550-one\r\n550 two: OLGA', '550-one 550 two: ***'],
  ['554 spam: 012345 — код', '554 spam: ****** — код'],
  ['250 2.0.0 Ok: queued as 4F1234567890', '250 2.0.0 Ok: queued as 4F1234567890'],
])('the answer «%s» is logged as «%s»', (answer, kept) => {
  expect(maskAnswer(answer, EMAIL)).toBe(kept)
})

test('a long answer is masked before it is cut, so that no half address is left', () => {
  for (let before = 280; before <= 300; before++) {
    const masked = maskAnswer(`${'x'.repeat(before)} ${EMAIL}`, EMAIL)
    expect(masked.length).toBeLessThanOrEqual(300)
    expect(masked).not.toContain('ol')
  }
})
