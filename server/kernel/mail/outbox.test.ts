import { sql } from 'kysely'
import { expect, test, vi } from 'vitest'
import { checkMailQueue } from '../../operations/doctor/mail-checks.ts'
import { readMailState, startAt } from '../../testing/calls/sign-in-calls.ts'
import { openDatabaseForTest } from '../../testing/database/database-for-test.ts'
import {
  passLimitTime,
  passTime,
  retryMails,
  stopClock,
} from '../../testing/database/passing-time.ts'
import { limitsInMemory } from '../../testing/limits-in-memory.ts'
import { mailboxForTest } from '../../testing/mail/mailbox.ts'
import { freePort } from '../../testing/process/free-port.ts'
import { appForTest, mailAppForTest, NODES } from '../../testing/test-app.ts'
import type { Db } from '../db/database.ts'
import { readMailHealth } from './mail-log.repository.ts'
import { createMailLimit } from './mails-per-hour.ts'
import { claimMail, IS_PAUSED, pauseMails, storeOutcome } from './outbox.repository.ts'
import { type QueuedMail, queueMail, SENDERS } from './queue-mail.ts'

const EMAIL = 'olga@example.org'
/** Notices that a node sends at once: its last sender is kept for codes. */
const NOTICES_AT_ONCE = SENDERS - 1
const logKey = Buffer.from('key')

const noticeTo = (to: string) => ({
  to,
  username: 'olga_1',
  changeId: 'x',
  expiresAt: Date.now() + 600_000,
})

async function claim(db: Db) {
  const mail = await claimMail(db, { tasks: ['send-x'], lane: 'all' })
  if (!mail) throw new Error('no mail can be claimed')
  return mail
}

test('two nodes share the mails of one outbox, and send each of them once', async () => {
  const { app, mailbox } = await mailAppForTest({}, { isHeld: true })
  const { db, databaseUrl } = app
  await appForTest({ config: { smtpUrl: mailbox.url }, databaseUrl })
  const addresses = Array.from({ length: 24 }, (_, n) => `person@example-${n}.org`)
  await Promise.all(addresses.map((to) => queueMail(db, 'send-email-notice', noticeTo(to))))
  const claimed = db.selectFrom('outbox').select('id').where('claimed_until', 'is not', null)
  await expect.poll(() => claimed.execute()).toHaveLength(2 * NODES * NOTICES_AT_ONCE)
  mailbox.letGo()
  await expect.poll(async () => (await readMailHealth(db)).waiting).toBe(0)
  expect(mailbox.mails.map(({ to }) => to).sort()).toEqual(addresses.sort())
})

test('while the mail server is away the log has one line, and one when it is back, but none for each try', async () => {
  const port = await freePort()
  const app = await appForTest({ config: { smtpUrl: `smtp://127.0.0.1:${port}` } })
  for (const to of ['a@example.org', 'b@example.com', 'c@example.net']) {
    await queueMail(app.db, 'send-email-notice', noticeTo(to))
  }
  const tries = async () => {
    const rows = await app.db.selectFrom('outbox').select('tries').execute()
    return Math.min(...rows.map((row) => row.tries))
  }
  await expect.poll(tries).toBeGreaterThanOrEqual(2)
  const mailbox = await mailboxForTest(port)
  await retryMails(app)
  await app.logLine('mail sent', 3)
  expect(mailbox.mails).toHaveLength(3)
  const messages = app.logged.map((line) => String(JSON.parse(line).msg))
  const ofMails = messages.filter((message) => /mail/.test(message))
  expect(ofMails.filter((it) => it === 'the mail server is away').length).toBeLessThanOrEqual(NODES)
  expect(new Set(ofMails)).toEqual(
    new Set(['the mail server is away', 'the mail server is back', 'mail sent']),
  )
})

test('a mail is sent after the commit of its act, never after a rollback; at its end only its address is left, as a hash and masked', async () => {
  const { app, mailbox } = await mailAppForTest()
  const undone = await app.db.startTransaction().execute()
  await queueMail(undone, 'send-email-notice', noticeTo('nobody@example.org'))
  // Both would insert the name of a job that the worker has not registered yet, and one would wait.
  await undone.rollback().execute()
  const done = await app.db.startTransaction().execute()
  await queueMail(done, 'send-email-notice', { ...noticeTo(EMAIL), key: 'olga’s' })
  expect((await readMailHealth(app.db)).waiting).toBe(0)
  await done.commit().execute()
  await mailbox.mailTo(EMAIL)
  await app.logLine('mail sent')
  expect(mailbox.mails).toHaveLength(1)
  const rows = await app.db.selectFrom('outbox').selectAll().execute()
  expect(rows).toMatchObject([
    { state: 'sent', payload: null, key: null, masked: 'o***@example.org' },
  ])
  expect(JSON.stringify(rows)).not.toContain('olga')
  const kept = app.sql`UPDATE outbox SET payload = '{"to": "olga@example.org"}'`
  await expect(kept).rejects.toThrow('violates check constraint')
})

test('one mail of a key is queued at a time, and waits as long as the next one would', async () => {
  const { db } = await openDatabaseForTest()
  const queueOne = async () => {
    await queueMail(db, 'send-x', { ...noticeTo(EMAIL), key: 'decision 1' })
    expect((await readMailHealth(db)).waiting).toBe(1)
  }
  await Promise.all([queueOne(), queueOne(), queueOne()])
  const next = { ...noticeTo(EMAIL), key: 'decision 1', expiresAt: Date.now() + 3_600_000 }
  await queueMail(db, 'send-x', next)
  const claimed = await claim(db)
  expect(claimed.leftMs).toBeGreaterThan(600_000)
  await queueOne()
  await storeOutcome(db, claimed, { state: 'sent', logKey })
  await queueOne()
})

test('a claimed mail belongs to one sender until the claim expires; a late outcome of that sender changes nothing', async () => {
  const { db } = await openDatabaseForTest()
  await queueMail(db, 'send-x', noticeTo(EMAIL))
  const late = await claim(db)
  await expect(claim(db)).rejects.toThrow('no mail')
  await sql`UPDATE outbox SET claimed_until = claimed_until - interval '61 seconds'`.execute(db)
  const next = await claim(db)
  expect(next.id).toBe(late.id)
  const retry = { state: 'retrying', againMs: 0, attempt: { error: 'EABORT' }, logKey } as const
  expect(await storeOutcome(db, late, retry)).toBe(false)
  await expect(claim(db)).rejects.toThrow('no mail')
  expect(await storeOutcome(db, next, { state: 'sent', attempt: {}, logKey })).toBe(true)
  expect(await readMailHealth(db)).toMatchObject({ waiting: 0, lastHour: { sent: 1 } })
})

test('a sender that begins too late leaves the mail to the next one, which sends it once', async () => {
  const { app, mailbox } = await mailAppForTest()
  const { db } = app
  const claimed = db.selectFrom('outbox').select('id').where('claimed_until', '>', sql<Date>`now()`)
  stopClock()
  await db.transaction().execute(async (tx) => {
    // Senders wait here, between their claim and their conversation.
    await sql`LOCK TABLE rate_limits`.execute(tx)
    await queueMail(db, 'send-email-notice', noticeTo(EMAIL))
    await expect.poll(() => claimed.execute()).toHaveLength(1)
    vi.advanceTimersByTime(10_001)
    await passTime(db, 61, 'outbox', 'claimed_until')
    await retryMails(app)
    await expect.poll(() => claimed.execute()).toHaveLength(1)
  })
  await expect.poll(async () => (await readMailHealth(db)).waiting).toBe(0)
  expect(mailbox.mails.map(({ to }) => to)).toEqual([EMAIL])
})

test('a code comes before every mail that is no code, also when it is tried again, and before it the codes that were not tried', async () => {
  const { db } = await openDatabaseForTest()
  const queueCode = (to: string, isToNewAddress: boolean) =>
    queueMail(db, 'send-x', { ...noticeTo(to), isUrgent: true, isToNewAddress })
  for (let n = 0; n < 3; n++) await queueMail(db, 'send-x', noticeTo(`notice-${n}@example.org`))
  await queueCode('greylisted@example.org', true)
  const again = { state: 'retrying', againMs: 0, attempt: { reply: 451 }, logKey } as const
  await storeOutcome(db, await claim(db), again)
  await queueCode('new@example.com', true)
  await queueCode('known@example.com', false)
  const order: string[] = []
  for (let n = 0; n < 4; n++) {
    const mail = await claim(db)
    order.push(mail.payload.to)
    await storeOutcome(db, mail, { state: 'sent', logKey })
  }
  expect(order).toEqual([
    'known@example.com',
    'new@example.com',
    'greylisted@example.org',
    'notice-0@example.org',
  ])
})

test('of the mails that wait for a limit, the oldest is sent first', async () => {
  const { db } = await openDatabaseForTest()
  for (const to of [EMAIL, 'petr@example.org']) await queueMail(db, 'send-x', noticeTo(to))
  const [olga, petr] = [await claim(db), await claim(db)]
  for (const mail of [petr, olga]) {
    await storeOutcome(db, mail, { state: 'slowed', againMs: 0, logKey })
  }
  expect((await claim(db)).id).toBe(olga.id)
})

test('of senders that may send other mails, one that has a mail tries the refused login', async () => {
  const { db } = await openDatabaseForTest()
  const code = { ...noticeTo(EMAIL), isUrgent: true, isToNewAddress: true }
  await queueMail(db, 'send-x', code)
  await pauseMails(db)
  await passTime(db, 61, 'mail_pause', 'next_try_at')
  for (const lane of ['codes to known addresses', 'no codes to new addresses'] as const) {
    expect(await claimMail(db, { tasks: ['send-x'], lane })).toBeUndefined()
  }
  expect(await claimMail(db, { tasks: ['send-y'], lane: 'all' })).toBeUndefined()
  expect(await claim(db)).toMatchObject({ payload: { to: EMAIL }, isProbe: true })
  await queueMail(db, 'send-x', noticeTo('petr@example.com'))
  await expect(claim(db)).rejects.toThrow('no mail')
  await sql`UPDATE outbox SET expires_at = now() WHERE claimed_until IS NULL`.execute(db)
  expect(await claim(db)).toMatchObject({ payload: { to: 'petr@example.com' }, isProbe: false })
})

/** Jobs that a node runs at once. Each of them can be refused before the first refusal is stored. */
const AT_ONCE = SENDERS * NODES
const EMAILS = Array.from({ length: 10 }, (_, n) => `person-${n}@example.org`)

test('a wrong password stops all mails but one try a minute; the right one sends each of them once', async () => {
  const words = '5.7.8 Authentication of masha@example.org failed'
  const mailbox = await mailboxForTest(0, { refusal: { code: 535, words, at: 'login' } })
  const config = { smtpUrl: mailbox.url.replace('//', '//user:password@') }
  const app = await appForTest({ config })
  const started = await Promise.all(
    EMAILS.map((email) => startAt(app, '/registrations', { email, clientToken: email })),
  )
  const busy = () => app.sql`SELECT FROM outbox WHERE payload IS NOT NULL
    AND (claimed_until IS NOT NULL OR NOT ${IS_PAUSED} AND due_at <= now())`
  const untilAllWait = () => expect.poll(busy).toHaveLength(0)
  await untilAllWait()
  const first = mailbox.counts.refusals
  expect(first).toBeGreaterThan(0)
  expect(first).toBeLessThanOrEqual(AT_ONCE)
  for (const [n, { body }] of started.entries()) {
    expect((await readMailState(app, body.id, EMAILS[n])).body.state).toBe('retrying')
  }
  const reason = '535 5.7.8 Authentication of m***@example.org failed'
  const failing = { waiting: 10, failing: 10, failingSince: expect.any(Date) }
  expect(await readMailHealth(app.db)).toMatchObject({ ...failing, error: 'EAUTH', reason })

  for (const minute of [1, 2]) {
    await passTime(app.db, 61, 'mail_pause', 'next_try_at')
    await retryMails(app)
    await expect.poll(() => mailbox.counts.refusals).toBe(first + minute)
    await untilAllWait()
    expect(mailbox.counts.refusals).toBe(first + minute)
  }

  mailbox.accept()
  // A start may have brought the right password: it does not wait for the rest of the minute.
  await appForTest({ config, databaseUrl: app.databaseUrl })
  const sent = { waiting: 0, failingSince: null, lastHour: { sent: 10 } }
  await expect.poll(() => readMailHealth(app.db)).toMatchObject(sent)
  expect(mailbox.mails.map(({ to }) => to).sort()).toEqual(EMAILS)
})

test('all nodes together send MAILS_PER_HOUR: half of them codes to new addresses, three quarters and notices of moderation, the last ones notices about accounts', async () => {
  const { app, mailbox } = await mailAppForTest({ mailsPerHour: 8 })
  const config = { smtpUrl: mailbox.url, mailsPerHour: 8 }
  const other = await appForTest({ config, databaseUrl: app.databaseUrl })
  const limited = () => app.sql<{ masked: string }>`SELECT masked FROM outbox
    WHERE state = 'limited' ORDER BY is_urgent DESC, masked`
  const sent = () => mailbox.mails.length
  for (const email of ['known@example.org', 'other@example.org']) {
    await app.signIn(email)
    await mailbox.mailTo(email)
  }
  await passLimitTime(app, 3600)
  const nodes = [app, other]
  for (let n = 0; n < 5; n++) {
    const client = { email: `${n}-new@example.org`, clientToken: `${n}` }
    const { status } = await startAt(nodes[n % 2] ?? app, '/registrations', client)
    expect(status).toBe(201)
  }
  await expect.poll(sent).toBe(2 + 4)
  await expect.poll(limited).toHaveLength(1)
  for (let n = 0; n < 4; n++) {
    await queueMail(app.db, 'send-email-notice', noticeTo(`${n}-moderation@example.org`))
  }
  await expect.poll(limited).toHaveLength(3)
  await expect.poll(sent).toBe(2 + 6)
  const logins = ['known@example.org', 'other@example.org']
  for (const email of logins) await startAt(app, '/logins', { email, clientToken: email })
  await expect.poll(sent).toBe(2 + 7)
  await expect.poll(limited).toHaveLength(4)
  const security = { ...noticeTo('security@example.org'), isSecurity: true }
  await queueMail(app.db, 'send-email-notice', security)
  await mailbox.mailTo('security@example.org')
  expect(sent()).toBe(2 + 8)
  expect([...app.logged, ...other.logged].join('')).toContain('"limit":"MAILS_PER_HOUR"')
  // The mail that has arrived leaves the queue a moment later.
  const waits = { waiting: 4, failing: 0, limited: 4, failingSince: null }
  await expect.poll(() => readMailHealth(app.db)).toMatchObject(waits)
  expect(checkMailQueue(await readMailHealth(app.db))).toMatchObject({
    level: 'broken',
    fix: expect.stringContaining('MAILS_PER_HOUR'),
  })

  // In the hours after, the others go.
  await expect
    .poll(async () => {
      await passLimitTime(app, 3600)
      await retryMails(app)
      return sent()
    })
    .toBe(2 + 12)
})

test.each([10, 50, 100, 2000])(
  'at a steady flood of codes to new addresses each notice leaves within ten minutes, with %i mails an hour',
  async (most) => {
    let now = 0
    const charge = createMailLimit({
      limits: limitsInMemory(() => now),
      most,
      isSlowed: async () => false,
      findAskerWait: async () => undefined,
      hasRefusal: async () => false,
    })
    const waiting: { mail: QueuedMail; since: number; dueAt: number }[] = []
    let [longest, codes] = [0, 0]
    const queue = (mail: Omit<QueuedMail, 'to'>) =>
      waiting.push({ mail: { to: EMAIL, ...mail }, since: now, dueAt: now })
    for (; now < 6 * 3600; now += 10) {
      queue({ isUrgent: true, isToNewAddress: true, asker: `network ${now}` })
      if (now % 1800 === 900) queue({ isSecurity: true })
      if (now % 3600 === 2700) queue({})
      // A code that waits for 20 minutes is not sent.
      const [oldest] = waiting
      if (oldest?.mail.isToNewAddress && now - oldest.since > 1200) waiting.shift()
      // As in the outbox, codes come first.
      const due = waiting.filter(({ dueAt }) => dueAt <= now)
      due.sort((a, b) => Number(b.mail.isUrgent ?? false) - Number(a.mail.isUrgent ?? false))
      for (const one of due) {
        const wait = await charge(one.mail, 0)
        one.dueAt = now + (wait?.againMs ?? 0) / 1000
        if (wait) continue
        waiting.splice(waiting.indexOf(one), 1)
        if (one.mail.isToNewAddress) codes++
        else longest = Math.max(longest, now - one.since)
      }
    }
    const notices = waiting.filter(({ mail }) => !mail.isToNewAddress)
    longest = Math.max(longest, ...notices.map(({ since }) => now - since))
    expect(longest).toBeLessThanOrEqual(600)
    // The burst of a quiet hour, and half of each hour.
    expect(codes).toBeLessThanOrEqual(Math.ceil(most / 2 + (6 * most) / 2))
  },
)

test('doctor names a notice that waits for more than ten minutes, but no digest', async () => {
  const { db } = await openDatabaseForTest()
  await queueMail(db, 'send-x', { ...noticeTo('digest@example.org'), isDigest: true })
  await sql`UPDATE outbox SET queued_at = queued_at - interval '11 minutes'`.execute(db)
  expect(checkMailQueue(await readMailHealth(db))).toMatchObject({ level: 'ok' })
  await queueMail(db, 'send-x', noticeTo(EMAIL))
  await sql`UPDATE outbox SET queued_at = queued_at - interval '11 minutes'`.execute(db)
  expect(checkMailQueue(await readMailHealth(db))).toMatchObject({
    level: 'broken',
    message: expect.stringMatching(/дольше 10 минут: 1, первое для o\*\*\*@example\.org с .* \S+$/),
  })
})

test('codes for one network use a tenth of MAILS_PER_HOUR', async () => {
  const charge = createMailLimit({
    limits: limitsInMemory(() => 0),
    most: 700,
    isSlowed: async () => false,
    findAskerWait: async () => undefined,
    hasRefusal: async () => false,
  })
  const code = (asker: string) => charge({ to: EMAIL, isUrgent: true, asker }, 0)
  for (let n = 0; n < 70; n++) expect(await code('one')).toBeUndefined()
  // The operator is not alarmed, for the others' mails leave.
  expect(await code('one')).toMatchObject({ state: 'slowed' })
  expect(await code('other')).toBeUndefined()
})
