import { sql } from 'kysely'
import { expect, test } from 'vitest'
import type { EmailNotice } from '../../features/account/account.mail.ts'
import type { CodeMail } from '../../features/codes/codes.mail.ts'
import { checkMailQueue } from '../../operations/doctor/mail-checks.ts'
import { closeAfterTest } from '../../testing/close-after-test.ts'
import { databaseForTest } from '../../testing/database-for-test.ts'
import { freePort } from '../../testing/free-port.ts'
import { openMailbox } from '../../testing/mailbox.ts'
import { startAt } from '../../testing/sign-in-calls.ts'
import { openRefusingSmtp, openStuckSmtp } from '../../testing/smtp-faults.ts'
import { appForTest, startTestApp, type TestApp } from '../../testing/test-app.ts'
import { mailHealth } from './mail-log.repository.ts'
import { queueMail, wakeSenders } from './queue-mail.ts'

/** Long enough for a busy machine. */
const SLOW_MACHINE = { timeout: 15_000 }

const EMAIL = 'olga@example.org'
const urlOf = (port: number) => `smtp://127.0.0.1:${port}`

/** Starts sign-ins for several e-mails, EMAIL first. Returns its id and the shortest response time in ms. */
async function startFast(app: TestApp): Promise<{ id: string; ms: number }> {
  const ids: string[] = []
  const times: number[] = []
  for (const email of [EMAIL, 'petr@example.org', 'vera@example.org']) {
    const since = performance.now()
    const { status, body } = await startAt(app, '/registrations', { email })
    times.push(performance.now() - since)
    expect(status).toBe(201)
    ids.push(body.id)
  }
  return { id: ids[0] ?? '', ms: Math.min(...times) }
}

/** Queues a notice that a process has claimed for so many more seconds, before it was killed. */
function holdNotice(app: TestApp, { to, heldSeconds }: { to: string; heldSeconds: number }) {
  return app.db.transaction().execute(async (tx) => {
    const expiresAt = Date.now() + 600_000
    const notice: EmailNotice = { to, username: 'olga_1', changeId: 'any', expiresAt }
    await queueMail(tx, 'send-email-notice', notice)
    await sql`UPDATE outbox SET claimed_until = now() + ${heldSeconds} * interval '1 second'
      WHERE payload->>'to' = ${to}`.execute(tx)
  })
}

/** Waits until only mails to these addresses wait, due now or later. */
function waitingOnly({ db }: TestApp, masked: string[]): Promise<void> {
  const waiting = db.selectFrom('outbox').select('masked').where('payload', 'is not', null)
  return expect
    .poll(async () => (await waiting.execute()).map((mail) => mail.masked), SLOW_MACHINE)
    .toEqual(masked)
}

test('with SMTP down, a start returns within 300 ms, and the mail arrives once SMTP is back', async () => {
  const port = await freePort()
  const app = await appForTest({ config: { smtpUrl: urlOf(port) } })
  const { id, ms } = await startFast(app)
  expect(ms).toBeLessThan(300)
  await app.logLine('mail not sent, will retry', 3)

  const mailbox = closeAfterTest(await openMailbox(port))
  expect(await mailbox.codeFor(EMAIL)).toBe(app.codeFor(id))
  await app.logLine('mail sent', 3)
  expect(mailbox.mails).toHaveLength(3)
})

test('with SMTP stuck, a start returns within 300 ms, and the mail arrives once SMTP continues', async () => {
  const mailbox = closeAfterTest(await openMailbox())
  const slow = closeAfterTest(await openStuckSmtp(Number(new URL(mailbox.url).port)))
  const app = await appForTest({ config: { smtpUrl: slow.url } })
  const { id, ms } = await startFast(app)
  expect(ms).toBeLessThan(300)
  await slow.caught
  expect(mailbox.mails).toEqual([])

  slow.letGo()
  expect(await mailbox.codeFor(EMAIL)).toBe(app.codeFor(id))
})

test.each([
  ['an address for now', { code: 451 }],
  ['our network', { code: 554, at: 'connect' }],
  ['an address without a login', { code: 530, words: '5.7.0 Authentication required' }],
  ['an address from our network', { code: 554, words: '5.7.1 Client host blocked' }],
  ['our words', { code: 550, words: '5.7.1 Looks like spam', at: 'message' }],
  [
    'the day’s quota',
    { code: 550, words: '5.4.5 Daily user sending quota exceeded', at: 'message' },
  ],
  ['the letter without a reason', { code: 550, at: 'message' }],
  ['a full mailbox', { code: 552, words: '5.2.2 Mailbox full', at: 'message' }],
] as const)(
  'with SMTP refusing %s, a start returns within 300 ms, and the mail arrives once SMTP accepts it',
  async (_what, refusal) => {
    const refusing = await openRefusingSmtp(refusal)
    const app = await appForTest({ config: { smtpUrl: urlOf(refusing.port) } })
    const { id, ms } = await startFast(app)
    expect(ms).toBeLessThan(300)
    await refusing.refused
    await refusing.close()

    const mailbox = closeAfterTest(await openMailbox(refusing.port))
    expect(await mailbox.codeFor(EMAIL)).toBe(app.codeFor(id))
  },
)

test.each([
  ['an unknown address', { code: 550, words: 'No such user' }],
  ['an address by its enhanced status', { code: 550, words: '5.1.1 No such user here' }],
  ['the letter for its address', { code: 550, words: '5.2.1 Mailbox disabled', at: 'message' }],
] as const)('SMTP refusing %s for good is asked once', async (_what, refusal) => {
  const refusing = closeAfterTest(await openRefusingSmtp(refusal))
  const app = await appForTest({ config: { smtpUrl: urlOf(refusing.port) } })
  await startAt(app, '/registrations', { email: EMAIL })
  const line = await app.logLine('mail refused')
  expect(JSON.parse(line)).toMatchObject({ reply: refusal.code, to: 'o***@example.org' })
  await waitingOnly(app, [])
  expect(refusing.counts.refusals).toBe(1)
})

test('a code for a full mailbox is retried every 15 s, a notice every 5 minutes, about which the doctor is silent', async () => {
  const full = closeAfterTest(await openRefusingSmtp({ code: 552, words: '5.2.2 Mailbox full' }))
  const app = await appForTest({ config: { smtpUrl: urlOf(full.port) } })
  await startAt(app, '/registrations', { email: EMAIL })
  const expiresAt = Date.now() + 86_400_000
  const notice = { to: 'petr@example.org', username: 'olga_1', changeId: 'x', expiresAt }
  await queueMail(app.db, 'send-email-notice', notice)
  await app.logLine('mail not sent, will retry', 2)
  await sql`UPDATE outbox SET tries = 9, due_at = now(), queued_at = now() - interval '1 hour'`.execute(
    app.db,
  )
  await wakeSenders(app.db)
  const pauses = sql<object>`SELECT is_urgent, extract(epoch FROM due_at - at)::int AS seconds
    FROM outbox WHERE tries = 10 ORDER BY is_urgent`
  await expect
    .poll(async () => (await pauses.execute(app.db)).rows, SLOW_MACHINE)
    .toEqual([
      { is_urgent: false, seconds: 300 },
      { is_urgent: true, seconds: 15 },
    ])
  expect(checkMailQueue(await mailHealth(app.db))).toMatchObject({ level: 'broken' })
  await sql`DELETE FROM outbox WHERE is_urgent`.execute(app.db)
  expect(checkMailQueue(await mailHealth(app.db))).toMatchObject({ level: 'ok' })
})

test('retries stop when the code expires: no mail arrives later', async () => {
  const mailbox = closeAfterTest(await openMailbox())
  const app = await appForTest({ config: { smtpUrl: mailbox.url } })
  const mail: CodeMail = {
    to: EMAIL,
    purpose: 'login',
    operationId: 'x',
    expiresAt: Date.now() - 1,
    device: null,
    askedAt: Date.now(),
  }
  await queueMail(app.db, 'send-code', mail)
  await app.logLine('mail given up')
  expect(app.logged.filter((line) => /mail sent|will retry/.test(line))).toEqual([])
  expect(mailbox.mails).toEqual([])
})

test('a queued mail survives the end of the process, and the next one sends it', async () => {
  const databaseUrl = await databaseForTest()
  const port = await freePort()
  const options = { databaseUrl, config: { smtpUrl: urlOf(port) } }
  const before = await startTestApp(options)
  const { body } = await startAt(before, '/registrations', { email: EMAIL })
  await before.logLine('mail not sent, will retry')
  await before.close()

  const mailbox = closeAfterTest(await openMailbox(port))
  const after = await appForTest(options)
  expect(await mailbox.codeFor(EMAIL)).toBe(after.codeFor(body.id))
})

test('a mail that a killed process was sending is sent by another after a minute', async () => {
  const mailbox = closeAfterTest(await openMailbox())
  const app = await appForTest({ config: { smtpUrl: mailbox.url } })
  await holdNotice(app, { to: 'petr@example.org', heldSeconds: 10 })
  await holdNotice(app, { to: EMAIL, heldSeconds: -1 })
  await mailbox.mailTo(EMAIL)
  await waitingOnly(app, ['p***@example.org'])
  expect(mailbox.mails).toHaveLength(1)
})

test('a mail waits for its retry in the queue, which does not contain the code', async () => {
  const app = await appForTest({ config: { smtpUrl: urlOf(await freePort()) } })
  const { body } = await startAt(app, '/registrations', { email: EMAIL })
  await app.logLine('mail not sent, will retry')
  const { rows } = await sql<{ payload: object }>`
    SELECT payload FROM outbox`.execute(app.db)
  const mail = expect.objectContaining({ to: EMAIL, operationId: body.id })
  expect(rows).toContainEqual({ payload: mail })
  expect(JSON.stringify(rows)).not.toContain(app.codeFor(body.id))
})
