import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { openDatabaseForTest } from '../../testing/database-for-test.ts'
import { stuckMailbox } from '../../testing/smtp-faults.ts'
import { appForTest, mailAppForTest, NODES } from '../../testing/test-app.ts'
import type { Db } from '../db/database.ts'
import { mailHealth } from './mail-log.repository.ts'
import { claimMail, settleMail } from './outbox.repository.ts'
import { queueMail } from './queue-mail.ts'

const EMAIL = 'olga@example.org'
/** Notices that a node sends at once: its last sender is kept for codes. */
const AT_ONCE = 3
const noticeTo = (to: string) => ({
  to,
  username: 'olga_1',
  changeId: 'x',
  expiresAt: Date.now() + 600_000,
})

const claim = (db: Db) => claimMail(db, { tasks: ['send-x'], isReserved: false })
const logKey = Buffer.from('key')

test('two nodes share the mails of one outbox, and send each of them once', async () => {
  const { mailbox, stuck } = await stuckMailbox()
  const config = { smtpUrl: stuck.url }
  const { db, databaseUrl } = await appForTest({ config })
  await appForTest({ config, databaseUrl })
  const addresses = Array.from({ length: 24 }, (_, n) => `person@example-${n}.org`)
  await Promise.all(addresses.map((to) => queueMail(db, 'send-email-notice', noticeTo(to))))
  const claimed = db.selectFrom('outbox').select('id').where('claimed_until', 'is not', null)
  await expect.poll(async () => (await claimed.execute()).length).toBe(2 * NODES * AT_ONCE)
  stuck.letGo()
  const waiting = async () => (await mailHealth(db)).waiting
  await expect.poll(waiting).toBe(0)
  expect(mailbox.mails.map(({ to }) => to).sort()).toEqual(addresses.sort())
})

test('a mail belongs to the transaction of its act: it is sent after the commit, and never after a rollback', async () => {
  const { app, mailbox } = await mailAppForTest()
  const undone = await app.db.startTransaction().execute()
  await queueMail(undone, 'send-email-notice', noticeTo('nobody@example.org'))
  const done = await app.db.startTransaction().execute()
  await queueMail(done, 'send-email-notice', noticeTo(EMAIL))
  expect((await mailHealth(app.db)).waiting).toBe(0)
  await undone.rollback().execute()
  await done.commit().execute()
  await mailbox.mailTo(EMAIL)
  await expect.poll(async () => (await mailHealth(app.db)).lastHour.sent).toBe(1)
  expect(mailbox.mails).toHaveLength(1)
})

test('at its end nothing is left of a mail but its address as a hash and masked', async () => {
  const { app, mailbox } = await mailAppForTest()
  await queueMail(app.db, 'send-email-notice', { ...noticeTo(EMAIL), key: 'olga’s' })
  await mailbox.mailTo(EMAIL)
  await app.logLine('mail sent')
  const rows = await app.db.selectFrom('outbox').selectAll().execute()
  expect(rows).toMatchObject([
    { state: 'sent', payload: null, key: null, masked: 'o***@example.org' },
  ])
  expect(JSON.stringify(rows)).not.toContain('olga')
  const kept = sql`UPDATE outbox SET payload = '{"to": "olga@example.org"}'`.execute(app.db)
  await expect(kept).rejects.toThrow('violates check constraint')
})

test('one mail of a key is queued at a time', async () => {
  const { db } = await openDatabaseForTest()
  const mail = { ...noticeTo(EMAIL), key: 'decision 1' }
  await Promise.all([1, 2, 3].map(() => queueMail(db, 'send-x', mail)))
  expect((await mailHealth(db)).waiting).toBe(1)
  const claimed = await claim(db)
  await queueMail(db, 'send-x', mail)
  expect((await mailHealth(db)).waiting).toBe(1)
  if (claimed) await settleMail(db, claimed, { state: 'sent', logKey })
  await queueMail(db, 'send-x', mail)
  expect((await mailHealth(db)).waiting).toBe(1)
})

test('a claimed mail belongs to one sender until the claim expires; a late outcome of that sender changes nothing', async () => {
  const { db } = await openDatabaseForTest()
  await queueMail(db, 'send-x', noticeTo(EMAIL))
  const late = await claim(db)
  expect(await claim(db)).toBeUndefined()
  await sql`UPDATE outbox SET claimed_until = claimed_until - interval '61 seconds'`.execute(db)
  const next = await claim(db)
  if (!late || !next) throw new Error('the mail was not claimed')
  expect(next.id).toBe(late.id)
  const retry = { state: 'retrying', againMs: 0, attempt: { error: 'EABORT' }, logKey } as const
  expect(await settleMail(db, late, retry)).toBe(false)
  expect(await claim(db)).toBeUndefined()
  expect(await settleMail(db, next, { state: 'sent', attempt: {}, logKey })).toBe(true)
  expect(await mailHealth(db)).toMatchObject({ waiting: 0, lastHour: { sent: 1 } })
})

test('codes that are tried again and again keep no other mail from its first try', async () => {
  const { db } = await openDatabaseForTest()
  for (const to of ['anna@gone.example', 'boris@gone.example']) {
    await queueMail(db, 'send-x', { ...noticeTo(to), isUrgent: true })
    const tried = await claim(db)
    if (tried) await settleMail(db, tried, { state: 'retrying', againMs: 0, attempt: {}, logKey })
  }
  await queueMail(db, 'send-x', noticeTo('olga@gone.example'))
  expect((await claim(db))?.payload.to).toBe('olga@gone.example')
})
