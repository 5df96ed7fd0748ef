import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { addJob } from '../queue/queue.ts'
import { insertReport } from '../reports/reports.repository.ts'
import { passReportTime, report } from '../testing/moderation-calls.ts'
import { mailAppForTest } from '../testing/test-app.ts'
import { followReport } from './moderation.service.ts'

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
    await followReport(tx, late.id, { reportsToHide: 0, moderatorEmail })
  })
  await passReportTime(app, 3601)
  await addJob(app.db, 'tell-moderators', { payload: {} })
  expect((await mailbox.mailTo(moderatorEmail, 2)).text).toContain('Открытых жалоб: 2')
})
