import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { checkMailQueue } from '../../operations/doctor/mail-checks.ts'
import { passLimitTime, retryMails } from '../../testing/passing-time.ts'
import { askMail, startAt } from '../../testing/sign-in-calls.ts'
import { appForTest, mailAppForTest } from '../../testing/test-app.ts'
import { mailHealth } from './mail-log.repository.ts'
import { queueMail } from './queue-mail.ts'

test('all nodes together send MAILS_PER_HOUR: at most half notices, the last quarter only codes for people with accounts', async () => {
  const { app, mailbox } = await mailAppForTest({ mailsPerHour: 4 })
  const config = { smtpUrl: mailbox.url, mailsPerHour: 4 }
  const other = await appForTest({ config, databaseUrl: app.databaseUrl })
  const limited = sql<{ is_urgent: boolean }>`SELECT is_urgent FROM outbox
    WHERE state = 'limited' ORDER BY is_urgent DESC`
  const limitedOf = async () => (await limited.execute(app.db)).rows.map((row) => row.is_urgent)
  await app.signIn('known@example.org')
  await mailbox.mailTo('known@example.org')
  await passLimitTime(app, 3600)
  const expiresAt = Date.now() + 86_400_000
  for (let n = 0; n < 6; n++) {
    const notice = { to: `notice-${n}@example.org`, username: 'olga_1', changeId: 'x', expiresAt }
    await queueMail(app.db, 'send-email-notice', notice)
  }
  await expect
    .poll(async () => [mailbox.mails.length, ...(await limitedOf())])
    .toEqual([3, false, false, false, false])

  await startAt(app, '/registrations', { email: 'first@example.org' })
  await mailbox.mailTo('first@example.org')
  const { body } = await startAt(other, '/registrations', { email: 'second@example.org' })
  await expect.poll(limitedOf).toEqual([true, false, false, false, false])
  await startAt(app, '/logins', { email: 'known@example.org' })
  await mailbox.mailTo('known@example.org', 2)
  expect(mailbox.mails).toHaveLength(5)
  expect((await askMail(app, body.id)).body.state).toBe('retrying')
  expect([...app.logged, ...other.logged].join('')).toContain('"limit":"MAILS_PER_HOUR"')
  // The mail that has arrived leaves the queue a moment later.
  await expect
    .poll(() => mailHealth(app.db))
    .toMatchObject({ waiting: 5, failing: 0, limited: 5, failingSince: null })
  expect(checkMailQueue(await mailHealth(app.db))).toMatchObject({
    level: 'broken',
    fix: expect.stringContaining('MAILS_PER_HOUR'),
  })

  // In the hours after, the others go.
  await expect
    .poll(async () => {
      await passLimitTime(app, 3600)
      await retryMails(app)
      return mailbox.mails.length
    })
    .toBe(10)
  expect(new Set(mailbox.mails.map(({ to }) => to)).size).toBe(9)
})
