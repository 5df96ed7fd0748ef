import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { selectMailLog } from '../../kernel/mail/mail-log.repository.ts'
import { queueMail } from '../../kernel/mail/queue-mail.ts'
import { addJob } from '../../kernel/queue/queue.ts'
import { passReportTime, report } from '../../testing/moderation-calls.ts'
import { mailAppForTest } from '../../testing/test-app.ts'
import { insertReport } from '../reports/reports.repository.ts'
import { applyReportRules } from './moderation.service.ts'

const moderatorEmail = 'moderators@example.org'

test('a report that began before a mail to the moderators and was committed after it is new to the next mail', async () => {
  const { app, mailbox } = await mailAppForTest({ moderatorEmail })
  const [author, reader, other] = [await app.signUp(), await app.signUp(), await app.signUp()]
  const [early, late] = [await app.publish(author), await app.publish(author)]
  await app.db.transaction().execute(async (tx) => {
    // From here on, now() is the same in this transaction.
    await sql`SELECT now()`.execute(tx)
    await report(app, reader, { postId: early.id })
    await mailbox.mailTo(moderatorEmail)
    const newer = { postId: late.id, reporterId: other.id, reasonId: '1', comment: null }
    expect(await insertReport(tx, newer)).toBe(true)
    await applyReportRules(tx, late.id, { reportsToHide: 0, rateLimitScale: 1, moderatorEmail })
  })
  await passReportTime(app, 3601)
  await addJob(app.db, 'tell-moderators', { payload: {} })
  expect((await mailbox.mailTo(moderatorEmail, 2)).text).toContain('Открытых жалоб: 2')
})

test('a digest that finds nothing any more is no mail: neither sent nor logged as one', async () => {
  const { app, mailbox } = await mailAppForTest({ moderatorEmail })
  const mail = { to: moderatorEmail, expiresAt: Date.now() + 60_000 }
  await queueMail(app.db, 'send-queue-mail', mail)
  await expect.poll(() => selectMailLog(app.db)).toEqual([])
  expect(mailbox.mails).toEqual([])
})
