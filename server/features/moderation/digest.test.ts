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
const moderatorEmails = [moderatorEmail]

test('the moderators get a mail at the first report of a quiet hour, and one an hour while there is something new', async () => {
  const { app, mailbox } = await mailAppForTest({
    moderatorEmails,
    publicUrl: 'https://vslukh.example',
  })
  const author = await app.signUp()
  const reader = await app.signUp()
  const tell = async () => {
    const post = await app.publish(author)
    await report(app, reader, { postId: post.id })
  }
  const count = () => mailbox.mails.filter(({ to }) => to === moderatorEmail).length
  await tell()
  const mail = await mailbox.mailTo(moderatorEmail)
  expect(mail.subject).toContain('Жалобы ждут решения: 1')
  expect(mail.text).toContain('https://vslukh.example/moderation')
  await tell()
  await tell()
  expect(count()).toBe(1)
  await passReportTime(app, 3601)
  // Everything reported so far is older than the hour: the job has something new only after the
  // next report.
  await sql`UPDATE reports SET created_at = now() WHERE id = (SELECT max(id) FROM reports)`.execute(
    app.db,
  )
  await addJob(app.db, 'tell-moderators', { payload: {} })
  expect((await mailbox.mailTo(moderatorEmail, 2)).subject).toContain('решения: 3')
  await passReportTime(app, 3601)
  await addJob(app.db, 'tell-moderators', { payload: {} })
  const jobs = sql`SELECT FROM graphile_worker.jobs`
  await expect.poll(async () => (await jobs.execute(app.db)).rows).toEqual([])
  expect(count()).toBe(2)
}, 60_000)

test('a report that began before a mail to the moderators and was committed after it is new to the next mail', async () => {
  const { app, mailbox } = await mailAppForTest({ moderatorEmails })
  const [author, reader, other] = [await app.signUp(), await app.signUp(), await app.signUp()]
  const [early, late] = [await app.publish(author), await app.publish(author)]
  await app.db.transaction().execute(async (tx) => {
    // From here on, now() is the same in this transaction, which a slow mail does not end.
    await sql`SET LOCAL idle_in_transaction_session_timeout = 0`.execute(tx)
    await report(app, reader, { postId: early.id })
    await mailbox.mailTo(moderatorEmail)
    const newer = { postId: late.id, reporterId: other.id, reasonId: '1', comment: null }
    expect(await insertReport(tx, newer)).toBe(true)
    await applyReportRules(tx, late.id, { reportsToHide: 0, rateLimitScale: 1, moderatorEmails })
  })
  await passReportTime(app, 3601)
  await addJob(app.db, 'tell-moderators', { payload: {} })
  const { text } = await mailbox.mailTo(moderatorEmail, 2)
  expect(text).toContain('Открытых жалоб: 2')
  expect(text).toContain('Самая давняя ждёт 1 час.')
})

test('each address of the moderators gets a mail of its own, which names no other', async () => {
  const all = ['anna@example.org', 'boris@example.org']
  const { app, mailbox } = await mailAppForTest({ moderatorEmails: all })
  const post = await app.publish(await app.signUp())
  await report(app, await app.signUp(), { postId: post.id })
  for (const [index, to] of all.entries()) {
    const other = all[1 - index]
    const mail = await mailbox.mailTo(to)
    expect(mail.text).toContain('Открытых жалоб: 1')
    expect(JSON.stringify(mail)).not.toContain(other)
  }
  expect(mailbox.mails.filter(({ to }) => all.includes(to))).toHaveLength(2)
})

test('a digest that finds nothing any more is no mail: neither sent nor logged as one', async () => {
  const { app, mailbox } = await mailAppForTest({ moderatorEmails })
  const mail = { to: moderatorEmail, expiresAt: Date.now() + 60_000 }
  await queueMail(app.db, 'send-queue-mail', mail)
  await expect.poll(() => selectMailLog(app.db)).toEqual([])
  expect(mailbox.mails).toEqual([])
})
