import { expect, test } from 'vitest'
import { startAt } from '../../testing/calls/sign-in-calls.ts'
import { closeAfterTest } from '../../testing/close-after-test.ts'
import { databaseForTest } from '../../testing/database/database-for-test.ts'
import { executeOn, lockWaits } from '../../testing/database/databases.ts'
import { openPostgresProxy } from '../../testing/database/postgres-proxy.ts'
import { mailAppForTest, NODES } from '../../testing/test-app.ts'
import { readMailHealth } from './mail-log.repository.ts'
import { type QueuedMail, queueMail } from './queue-mail.ts'

/** Starts an app whose first mail, to Olga, its server holds until `mailbox.letGo()`. */
async function startHeldMail(databaseUrl?: string) {
  const started = await mailAppForTest({}, { isHeld: true, databaseUrl })
  await startAt(started.app, '/registrations', { email: 'olga@example.org' })
  await started.mailbox.caught
  return started
}

test('a database outage while a mail is being sent ends neither the process nor the queue, and leaves no stack trace in the log', async () => {
  const line = closeAfterTest(await openPostgresProxy(await databaseForTest()))
  const { app, mailbox } = await startHeldMail(line.url)
  line.cut()
  await app.logLine('the database is away', NODES)
  mailbox.letGo()
  await app.logLine('mail sent')

  line.repair()
  await app.logLine('the database is back', NODES)
  const { status, body } = await startAt(app, '/registrations', { email: 'petr@example.org' })
  expect(status).toBe(201)
  expect(await mailbox.codeFor('petr@example.org')).toBe(app.codeFor(body.id))
  // What was sent in the outage is known to be: nobody sends it again.
  await expect
    .poll(() => readMailHealth(app.db))
    .toMatchObject({ waiting: 0, lastHour: { sent: 2 } })
  expect(mailbox.mails).toHaveLength(2)
  expect(app.logged.filter((text) => text.includes('"stack"'))).toEqual([])
})

test('a code that is requested again while the outcome of its mail is stored does not deadlock with it', async () => {
  const { app, mailbox } = await startHeldMail()
  const { payload } = await app.db.selectFrom('outbox').select('payload').executeTakeFirstOrThrow()
  const request = await app.db.startTransaction().execute()
  await request.selectFrom('codes').selectAll().forUpdate().execute()
  mailbox.letGo()
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
  const { app, mailbox } = await mailAppForTest({}, { databaseUrl })
  await app.logLine('jobs stopped')

  await rename('away', '_private_tasks')
  const { body } = await startAt(app, '/registrations', { email: 'olga@example.org' })
  expect(await mailbox.codeFor('olga@example.org')).toBe(app.codeFor(body.id))
})
