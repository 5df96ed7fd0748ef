import { expect, test } from 'vitest'
import { closeAfterTest } from '../../testing/close-after-test.ts'
import { databaseForTest } from '../../testing/database-for-test.ts'
import { executeOn, lockWaits } from '../../testing/databases.ts'
import { openMailbox } from '../../testing/mailbox.ts'
import { openPostgresProxy } from '../../testing/postgres-proxy.ts'
import { startAt } from '../../testing/sign-in-calls.ts'
import { stuckMailbox } from '../../testing/smtp-faults.ts'
import { appForTest } from '../../testing/test-app.ts'
import { mailHealth } from './mail-log.repository.ts'
import { type QueuedMail, queueMail } from './queue-mail.ts'

/** Starts an app whose first mail, to Olga, its server holds until `slow.letGo()`. */
async function startHeldMail(databaseUrl: string) {
  const { mailbox, stuck: slow } = await stuckMailbox()
  const app = await appForTest({ databaseUrl, config: { smtpUrl: slow.url } })
  await startAt(app, '/registrations', { email: 'olga@example.org' })
  await slow.caught
  return { app, mailbox, slow }
}

test('a database outage while a mail is being sent ends neither the process nor the queue, and leaves no stack trace in the log', async () => {
  const line = closeAfterTest(await openPostgresProxy(await databaseForTest()))
  const { app, mailbox, slow } = await startHeldMail(line.url)
  line.cut()
  await app.logLine('the database is away')
  slow.letGo()
  await app.logLine('mail sent')

  line.repair()
  await app.logLine('the database is back')
  const { status, body } = await startAt(app, '/registrations', { email: 'petr@example.org' })
  expect(status).toBe(201)
  expect(await mailbox.codeFor('petr@example.org')).toBe(app.codeFor(body.id))
  // What was sent in the outage is known to be: nobody sends it again.
  await expect.poll(() => mailHealth(app.db)).toMatchObject({ waiting: 0, lastHour: { sent: 2 } })
  expect(mailbox.mails).toHaveLength(2)
  expect(app.logged.filter((text) => text.includes('"stack"'))).toEqual([])
})

test('an outcome that waits too long for a lock is stored later; the log says why, without a stack trace', async () => {
  const { app, mailbox, slow } = await startHeldMail(await databaseForTest())
  const holder = await app.db.startTransaction().execute()
  await holder.selectFrom('codes').selectAll().forUpdate().execute()
  slow.letGo()
  expect(await app.logLine('outcome not stored')).toMatch(/"reason":"canceling .* timeout"/)
  expect(app.logged.filter((text) => text.includes('"stack"'))).toEqual([])

  await holder.rollback().execute()
  await expect.poll(() => mailHealth(app.db)).toMatchObject({ waiting: 0, lastHour: { sent: 1 } })
  expect(mailbox.mails).toHaveLength(1)
})

test('a code that is requested again while the outcome of its mail is stored does not deadlock with it', async () => {
  const { app, slow } = await startHeldMail(await databaseForTest())
  const { payload } = await app.db.selectFrom('outbox').select('payload').executeTakeFirstOrThrow()
  const request = await app.db.startTransaction().execute()
  await request.selectFrom('codes').selectAll().forUpdate().execute()
  slow.letGo()
  await expect.poll(() => lockWaits(app)).toBe(1)
  await queueMail(request, 'send-code', payload as QueuedMail)
  await request.commit().execute()
  await app.logLine('mail sent')
  expect(app.logged.filter((text) => text.includes('outcome not stored'))).toEqual([])
})

test('when the first read of the queue fails, the mail arrives once the database answers', async () => {
  const databaseUrl = await databaseForTest()
  const rename = (from: string, to: string) =>
    executeOn(databaseUrl, `ALTER TABLE graphile_worker.${from} RENAME TO ${to}`)
  await rename('_private_tasks', 'away')
  const mailbox = closeAfterTest(await openMailbox())
  const app = await appForTest({ databaseUrl, config: { smtpUrl: mailbox.url } })
  await app.logLine('jobs stopped')

  await rename('away', '_private_tasks')
  const { body } = await startAt(app, '/registrations', { email: 'olga@example.org' })
  expect(await mailbox.codeFor('olga@example.org')).toBe(app.codeFor(body.id))
})
