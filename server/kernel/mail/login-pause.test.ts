import { expect, test } from 'vitest'
import { closeAfterTest } from '../../testing/close-after-test.ts'
import { openMailbox } from '../../testing/mailbox.ts'
import { passPauseTime } from '../../testing/passing-time.ts'
import { askMail, startAt } from '../../testing/sign-in-calls.ts'
import { openRefusingSmtp, untilAllWait } from '../../testing/smtp-faults.ts'
import { appForTest, NODES } from '../../testing/test-app.ts'
import { mailHealth } from './mail-log.repository.ts'

/** Jobs that a node runs at once: so many logins can be refused before the first refusal is known. */
const AT_ONCE = 4 * NODES
const EMAILS = Array.from({ length: 10 }, (_, n) => `person-${n}@example.org`)

test('a wrong password stops all mails but one try a minute; the right one sends each of them once', async () => {
  const refusing = await openRefusingSmtp({
    code: 535,
    words: '5.7.8 Authentication of masha@example.org failed',
    at: 'login',
  })
  const smtpUrl = `smtp://user:password@127.0.0.1:${refusing.port}`
  const app = await appForTest({ config: { smtpUrl } })
  const started = await Promise.all(
    EMAILS.map((email) => startAt(app, '/registrations', { email, clientToken: email })),
  )
  await untilAllWait(app.db)
  const first = refusing.counts.refusals
  expect(first).toBeGreaterThan(0)
  expect(first).toBeLessThanOrEqual(AT_ONCE)
  const states = await Promise.all(
    started.map(async ({ body }, n) => (await askMail(app, body.id, EMAILS[n])).body.state),
  )
  expect(new Set(states)).toEqual(new Set(['retrying']))
  const health = await mailHealth(app.db)
  expect(health).toMatchObject({ waiting: 10, failing: 10, error: 'EAUTH' })
  expect(health.reason).toBe('535 5.7.8 Authentication of m***@example.org failed')
  expect(health.failingSince).toBeInstanceOf(Date)

  for (const minute of [1, 2]) {
    await passPauseTime(app, 61)
    await expect.poll(() => refusing.counts.refusals).toBe(first + minute)
    await untilAllWait(app.db)
    expect(refusing.counts.refusals).toBe(first + minute)
  }

  await refusing.close()
  const mailbox = closeAfterTest(await openMailbox(refusing.port))
  // A start may have brought the right password: it does not wait for the rest of the minute.
  await appForTest({ config: { smtpUrl }, databaseUrl: app.databaseUrl })
  await Promise.all(EMAILS.map((email) => mailbox.mailTo(email)))
  await expect.poll(async () => (await mailHealth(app.db)).waiting).toBe(0)
  expect(mailbox.mails.map(({ to }) => to).sort()).toEqual([...EMAILS].sort())
  expect(await mailHealth(app.db)).toMatchObject({ failingSince: null, lastHour: { sent: 10 } })
})
