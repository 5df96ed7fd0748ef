import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { openDatabaseForTest } from '../../testing/database-for-test.ts'
import { appForTest, mailAppForTest, NODES } from '../../testing/test-app.ts'
import type { Db } from '../db/database.ts'
import { mailHealth } from './mail-log.repository.ts'
import { claimMail, settleMail } from './outbox.repository.ts'
import { queueMail } from './queue-mail.ts'

const EMAIL = 'olga@example.org'
/** Notices that a node sends at once: its last sender is kept for codes. */
const AT_ONCE = 3
const logKey = Buffer.from('key')

const noticeTo = (to: string) => ({
  to,
  username: 'olga_1',
  changeId: 'x',
  expiresAt: Date.now() + 600_000,
})

async function claim(db: Db) {
  const mail = await claimMail(db, { tasks: ['send-x'], isReserved: false })
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
  await expect.poll(() => claimed.execute()).toHaveLength(2 * NODES * AT_ONCE)
  mailbox.letGo()
  await expect.poll(async () => (await mailHealth(db)).waiting).toBe(0)
  expect(mailbox.mails.map(({ to }) => to).sort()).toEqual(addresses.sort())
})

test('a mail is sent after the commit of its act, never after a rollback; at its end only its address is left, as a hash and masked', async () => {
  const { app, mailbox } = await mailAppForTest()
  const undone = await app.db.startTransaction().execute()
  await queueMail(undone, 'send-email-notice', noticeTo('nobody@example.org'))
  const done = await app.db.startTransaction().execute()
  await queueMail(done, 'send-email-notice', { ...noticeTo(EMAIL), key: 'olga’s' })
  expect((await mailHealth(app.db)).waiting).toBe(0)
  await undone.rollback().execute()
  await done.commit().execute()
  await mailbox.mailTo(EMAIL)
  await app.logLine('mail sent')
  expect(mailbox.mails).toHaveLength(1)
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
  const queueOne = async () => {
    await queueMail(db, 'send-x', { ...noticeTo(EMAIL), key: 'decision 1' })
    expect((await mailHealth(db)).waiting).toBe(1)
  }
  await Promise.all([queueOne(), queueOne(), queueOne()])
  const claimed = await claim(db)
  await queueOne()
  await settleMail(db, claimed, { state: 'sent', logKey })
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
  expect(await settleMail(db, late, retry)).toBe(false)
  await expect(claim(db)).rejects.toThrow('no mail')
  expect(await settleMail(db, next, { state: 'sent', attempt: {}, logKey })).toBe(true)
  expect(await mailHealth(db)).toMatchObject({ waiting: 0, lastHour: { sent: 1 } })
})

test('codes that are tried again and again keep no other mail from its first try', async () => {
  const { db } = await openDatabaseForTest()
  for (const to of ['anna@gone.example', 'boris@gone.example']) {
    await queueMail(db, 'send-x', { ...noticeTo(to), isUrgent: true })
    const again = { state: 'retrying', againMs: 0, attempt: {}, logKey } as const
    await settleMail(db, await claim(db), again)
  }
  await queueMail(db, 'send-x', noticeTo('olga@gone.example'))
  expect((await claim(db)).payload.to).toBe('olga@gone.example')
})
