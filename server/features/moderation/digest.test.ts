import { sql } from 'kysely'
import { beforeEach, expect, test } from 'vitest'
import { readJournal } from '../../kernel/journal/journal.ts'
import { selectMailLog } from '../../kernel/mail/mail-log.repository.ts'
import { endPause, pauseMails } from '../../kernel/mail/outbox.repository.ts'
import { queueMail } from '../../kernel/mail/queue-mail.ts'
import { addJob } from '../../kernel/queue/queue.ts'
import { mailBrokenBackups } from '../../operations/backup/backup.mail.ts'
import { passReportTime, report, signUpOld } from '../../testing/calls/moderation-calls.ts'
import { mailAppForFile } from '../../testing/test-app.ts'
import { insertReport } from '../reports/reports.repository.ts'
import { applyReportRules } from './hiding.service.ts'
import { addModerator, removeModerator } from './moderators.repository.ts'

const [ANNA, BORIS] = ['anna@example.org', 'boris@example.org']
const moderatorEmails = [ANNA, BORIS]
const publicUrl = 'https://vslukh.example'
const { app, mailbox } = await mailAppForFile({ moderatorEmails, publicUrl })
const [author, reader, other] = [await app.signUp(), await app.signUp(), await app.signUp()]
/** The queue is empty, and no mail was sent within the hour. */
beforeEach(async () => {
  await app.sql`DELETE FROM reports`
  await passReportTime(app, 3601)
})

const mails = (to = ANNA) => mailbox.mails.filter((mail) => mail.to === to)
const tell = async () => report(app, reader, { postId: (await app.publish(author)).id })

test('a digest that finds nothing any more is no mail: neither sent nor logged as one', async () => {
  await queueMail(app.db, 'send-queue-mail', { to: ANNA, expiresAt: Date.now() + 60_000 })
  const logged = async () =>
    (await selectMailLog(app.db)).filter(({ task }) => task === 'send-queue-mail')
  await expect.poll(logged).toEqual([])
  expect(mails()).toEqual([])
})

test('each moderator gets a mail of their own at the first report of a quiet hour, and one an hour while there is something new', async () => {
  await tell()
  for (const to of moderatorEmails) {
    const mail = await mailbox.mailTo(to)
    expect(mail.subject).toContain('Жалобы ждут решения: 1')
    expect(mail.text).toContain(`${publicUrl}/moderation`)
    expect(JSON.stringify(mail)).not.toContain(to === ANNA ? BORIS : ANNA)
  }
  await tell()
  await tell()
  expect(mails()).toHaveLength(1)
  await passReportTime(app, 3601)
  // Everything reported so far is older than the hour: the job has something new only after the
  // next report.
  await app.sql`UPDATE reports SET created_at = now() WHERE id = (SELECT max(id) FROM reports)`
  await addJob(app.db, 'tell-moderators')
  expect((await mailbox.mailTo(ANNA, 2)).subject).toContain('решения: 3')
  await passReportTime(app, 3601)
  await addJob(app.db, 'tell-moderators')
  await expect.poll(() => app.sql`SELECT FROM graphile_worker.jobs`).toEqual([])
  expect(mails()).toHaveLength(2)

  // Mails that could not leave for hours do not arrive all at once.
  await pauseMails(app.db)
  for (const _ of ['first', 'second']) {
    await tell()
    await passReportTime(app, 3601)
  }
  await endPause(app.db)
  expect((await mailbox.mailTo(ANNA, 3)).subject).toContain('решения: 5')
  await expect.poll(() => app.sql`SELECT FROM outbox WHERE payload IS NOT NULL`).toEqual([])
  expect(mails()).toHaveLength(3)
}, 60_000)

test('a report that began before a mail to the moderators and was committed after it is new to the next mail', async () => {
  const sent = mails().length
  const late = await app.publish(author)
  await app.db.transaction().execute(async (tx) => {
    // From here on, now() is the same in this transaction, which a slow mail does not end.
    await sql`SET LOCAL idle_in_transaction_session_timeout = 0`.execute(tx)
    await tell()
    await mailbox.mailTo(ANNA, sent + 1)
    const newer = { postId: late.id, reporterId: other.id, reasonId: '1', comment: null }
    expect(await insertReport(tx, newer)).toBe(true)
    const post = { id: late.id, owner_id: author.id, text: late.text }
    await applyReportRules(tx, post, { reportsToHide: 0, rateLimitScale: 1, moderatorEmails })
  })
  await passReportTime(app, 3601)
  await addJob(app.db, 'tell-moderators')
  const { text } = await mailbox.mailTo(ANNA, sent + 2)
  expect(text).toContain('Открытых жалоб: 2')
  expect(text).toContain('Самая давняя ждёт 1 час.')
})

test('a mail that went out while the clock was 100 days ahead holds back no later one', async () => {
  const sent = mails().length
  await app.sql`UPDATE moderator_mails SET mailed_at = now() + interval '100 days'`
  await tell()
  expect((await mailbox.mailTo(ANNA, sent + 1)).subject).toContain('Жалобы ждут решения')
})

test('past ten hidings in an hour posts stay on the wall, and the moderators are mailed so once', async () => {
  await app.sql`INSERT INTO journal (actor, action)
    SELECT 'vslukh', 'post.hide' FROM generate_series(1, 9999)`
  const reporters = await signUpOld(app, 3)
  const ids: string[] = []
  for (let post = 0; post < 3; post++) {
    const { id: postId } = await app.publish(author)
    for (const user of reporters) await report(app, user, { postId })
    ids.push(postId)
  }
  const visible = await app.sql`SELECT id FROM visible_posts WHERE id = ANY(${ids}) ORDER BY id`
  expect(visible).toEqual(ids.slice(1).map((id) => ({ id })))
  await mailbox.mailAbout(ANNA, /Жалобы больше не скрывают записи/)
  const stops = (await readJournal(app.db, {})).filter(({ action }) => action === 'hiding.stop')
  expect(stops).toHaveLength(1)
})

test('a moderator who was removed gets no more mails, although MODERATOR_EMAIL still names them, until they are added again', async () => {
  const change = { email: ANNA.toUpperCase(), actor: 'masha' }
  await addModerator(app.db, { ...change, isMarked: true })
  await removeModerator(app.db, change)
  const before = mails().length
  const ofBoris = mails(BORIS).length
  await tell()
  await mailbox.mailTo(BORIS, ofBoris + 1)
  expect(mails()).toHaveLength(before)
  await mailBrokenBackups(
    app.db,
    { check: 'backup', message: 'копий нет' },
    { moderatorEmails, contactEmail: undefined },
  )
  await mailbox.mailTo(BORIS, ofBoris + 2)
  expect(mails()).toHaveLength(before)
  await addModerator(app.db, { ...change, isMarked: true })
  await passReportTime(app, 3601)
  await tell()
  await mailbox.mailTo(ANNA, before + 1)
})
