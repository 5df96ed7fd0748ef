import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { mailboxForTest } from '../../testing/mailbox.ts'
import { passPauseTime } from '../../testing/passing-time.ts'
import { askMail, startAt } from '../../testing/sign-in-calls.ts'
import { appForTest, NODES } from '../../testing/test-app.ts'
import { IS_PAUSED } from './login-pause.repository.ts'
import { mailHealth } from './mail-log.repository.ts'

/** Jobs that a node runs at once: so many logins can be refused before the first refusal is known. */
const AT_ONCE = 4 * NODES
const EMAILS = Array.from({ length: 10 }, (_, n) => `person-${n}@example.org`)

test('a wrong password stops all mails but one try a minute; the right one sends each of them once', async () => {
  const words = '5.7.8 Authentication of masha@example.org failed'
  const mailbox = await mailboxForTest(0, { refusal: { code: 535, words, at: 'login' } })
  const config = { smtpUrl: mailbox.url.replace('//', '//user:password@') }
  const app = await appForTest({ config })
  const started = await Promise.all(
    EMAILS.map((email) => startAt(app, '/registrations', { email, clientToken: email })),
  )
  const busy = sql`SELECT FROM outbox WHERE payload IS NOT NULL
    AND (claimed_until IS NOT NULL OR NOT ${IS_PAUSED} AND due_at <= now())`
  const untilAllWait = () =>
    expect.poll(async () => (await busy.execute(app.db)).rows).toHaveLength(0)
  await untilAllWait()
  const first = mailbox.counts.refusals
  expect(first).toBeGreaterThan(0)
  expect(first).toBeLessThanOrEqual(AT_ONCE)
  for (const [n, { body }] of started.entries()) {
    expect((await askMail(app, body.id, EMAILS[n])).body.state).toBe('retrying')
  }
  const reason = '535 5.7.8 Authentication of m***@example.org failed'
  const failing = { waiting: 10, failing: 10, failingSince: expect.any(Date) }
  expect(await mailHealth(app.db)).toMatchObject({ ...failing, error: 'EAUTH', reason })

  for (const minute of [1, 2]) {
    await passPauseTime(app, 61)
    await expect.poll(() => mailbox.counts.refusals).toBe(first + minute)
    await untilAllWait()
    expect(mailbox.counts.refusals).toBe(first + minute)
  }

  mailbox.accept()
  // A start may have brought the right password: it does not wait for the rest of the minute.
  await appForTest({ config, databaseUrl: app.databaseUrl })
  await expect
    .poll(() => mailHealth(app.db))
    .toMatchObject({ waiting: 0, failingSince: null, lastHour: { sent: 10 } })
  expect(mailbox.mails.map(({ to }) => to).sort()).toEqual(EMAILS)
})
