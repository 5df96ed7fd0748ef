import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { addJob } from '../../kernel/queue/queue.ts'
import { leave } from '../../testing/account-deletion-calls.ts'
import type { TestUser } from '../../testing/client.ts'
import { expectRefusal } from '../../testing/expect-refusal.ts'
import type { Mailbox } from '../../testing/mailbox.ts'
import {
  decide,
  passReportTime,
  readQueue,
  report,
  signUpModerator,
} from '../../testing/moderation-calls.ts'
import { mailAppForTest, startMailApp, type TestApp } from '../../testing/test-app.ts'

let app: TestApp
let mailbox: Mailbox
let moderator: TestUser
let reporter: TestUser
beforeAll(async () => {
  ;({ app, mailbox } = await startMailApp())
  moderator = await signUpModerator(app)
  reporter = await app.signUp()
})
afterAll(() => app.close())

const profileOf = async ({ token }: TestUser) =>
  (await app.call('GET', '/users/current', { token })).body
const reportsOf = async ({ token }: TestUser) =>
  (await app.call('GET', '/users/current/reports', { token })).body.reports
const removedOf = async ({ token }: TestUser) =>
  (await app.call('GET', '/users/current/removed-posts', { token })).body.posts
const appeal = ({ token }: TestUser, id: string, text = 'Это был не спам') =>
  app.call('POST', `/users/current/removed-posts/${id}/appeal`, { token, body: { text } })
async function removed(author: TestUser, text = 'Куплю гараж'): Promise<string> {
  const { id: postId } = await app.publish(author, text)
  await report(app, reporter, { postId })
  await decide(app, moderator, { postId, verdict: 'remove' })
  return postId
}

test('the reporter learns the outcome at once, as new until it was seen', async () => {
  const author = await app.signUp()
  const own = await app.signUp()
  const [gone, kept] = [await app.publish(author, 'Первая'), await app.publish(author, 'Вторая')]
  await report(app, own, { postId: gone.id, reasonId: '8', comment: 'Плохая запись' })
  await report(app, own, { postId: kept.id })
  await app.call('PUT', '/users/current/reports/seen', { token: own.token })
  expect(await reportsOf(own)).toMatchObject([
    { postId: kept.id, outcome: 'open', decidedAt: null, isNew: false },
    { postId: gone.id, outcome: 'open', decidedAt: null, isNew: false },
  ])
  expect(await profileOf(own)).not.toHaveProperty('hasNewOutcomes')
  await decide(app, moderator, { postId: gone.id, verdict: 'remove' })
  await decide(app, moderator, { postId: kept.id, verdict: 'keep' })
  expect(await profileOf(own)).toHaveProperty('hasNewOutcomes', true)
  expect(await reportsOf(own)).toMatchObject([
    { postId: kept.id, postText: 'Вторая', outcome: 'kept', isNew: true, comment: null },
    {
      postId: gone.id,
      postText: 'Первая',
      reason: 'Другое нарушение',
      comment: 'Плохая запись',
      outcome: 'removed',
      isNew: true,
    },
  ])
  await app.call('PUT', '/users/current/reports/seen', { token: own.token })
  expect((await reportsOf(own)).map(({ isNew }: { isNew: boolean }) => isNew)).toEqual([
    false,
    false,
  ])
  expect(await profileOf(own)).not.toHaveProperty('hasNewOutcomes')
  expect(await reportsOf(author)).toEqual([])
})

test('the author’s profile says when their newest removed post was removed', async () => {
  const author = await app.signUp()
  expect(await profileOf(author)).not.toHaveProperty('lastRemoval')
  await removed(author)
  const [{ removedAt }] = await removedOf(author)
  expect(await profileOf(author)).toHaveProperty('lastRemoval', removedAt)
})

test('the author sees a removed post with its reason, gets a mail, and appeals once; a refusal is final', async () => {
  const author = await app.signUp()
  const postId = await removed(author)
  expect(await removedOf(author)).toMatchObject([
    { id: postId, text: 'Куплю гараж', reason: 'Спам или реклама', appeal: null },
  ])
  const mail = await mailbox.mailAbout(author.email, /Ваша запись удалена/)
  expect(mail.text).toContain('Причина: Спам или реклама.')
  expect(mail.text).toContain('\n> Куплю гараж\n\n')
  expect(mail.text.trimEnd()).toMatch(/own\/posts$/)

  expectRefusal(await appeal(reporter, postId), 'POST_NOT_FOUND')
  expectRefusal(await appeal(author, postId, '\u200b'), 'INVALID_REQUEST')
  expect((await appeal(author, postId)).status).toBe(204)
  expectRefusal(await appeal(author, postId), 'ALREADY_APPEALED')
  expect(await removedOf(author)).toMatchObject([
    { appeal: { text: 'Это был не спам', state: 'open' } },
  ])
  const queued = (await readQueue(app, moderator)).find(({ id }) => id === postId)
  expect(queued).toMatchObject({
    state: 'removed',
    reporters: 0,
    appeal: { text: 'Это был не спам', removedFor: 'Спам или реклама' },
  })
  await decide(app, moderator, { postId, verdict: 'remove' })
  expect(await removedOf(author)).toMatchObject([{ appeal: { state: 'refused' } }])
  expectRefusal(await appeal(author, postId), 'ALREADY_APPEALED')
  await mailbox.mailAbout(author.email, /Решение осталось в силе/)
})

test('an appeal that is granted brings the post back, and the author hears of it', async () => {
  const author = await app.signUp()
  const postId = await removed(author)
  await appeal(author, postId)
  await decide(app, moderator, { postId, verdict: 'keep' })
  expect((await app.call('GET', `/posts/${postId}`, { token: author.token })).status).toBe(200)
  expect(await removedOf(author)).toEqual([])
  await mailbox.mailAbout(author.email, /Ваша запись возвращена/)
})

test('the moderators get a mail at the first report of a quiet hour, and one an hour while there is something new', async () => {
  const { app: own, mailbox: box } = await mailAppForTest({
    moderatorEmails: ['moderators@example.org'],
    publicUrl: 'https://vslukh.example',
  })
  const author = await own.signUp()
  const reader = await own.signUp()
  const tell = async () => {
    const post = await own.publish(author)
    await report(own, reader, { postId: post.id })
  }
  const count = () => box.mails.filter(({ to }) => to === 'moderators@example.org').length
  await tell()
  const mail = await box.mailTo('moderators@example.org')
  expect(mail.subject).toContain('Жалобы ждут решения: 1')
  expect(mail.text).toContain('https://vslukh.example/moderation')
  await tell()
  await tell()
  expect(count()).toBe(1)
  await passReportTime(own, 3601)
  // Everything reported so far is older than the hour: the job has something new only after the
  // next report.
  await sql`UPDATE reports SET created_at = now() WHERE id = (SELECT max(id) FROM reports)`.execute(
    own.db,
  )
  await addJob(own.db, 'tell-moderators', { payload: {} })
  expect((await box.mailTo('moderators@example.org', 2)).subject).toContain('решения: 3')
  await passReportTime(own, 3601)
  await addJob(own.db, 'tell-moderators', { payload: {} })
  await expect
    .poll(
      () => sql`SELECT FROM graphile_worker.jobs`.execute(own.db).then(({ rows }) => rows.length),
      {
        timeout: 10_000,
      },
    )
    .toBe(0)
  expect(count()).toBe(2)
}, 60_000)

test('a reporter reads a text only until its author deletes it, or the account', async () => {
  const own = await app.signUp()
  const [first, second] = [await app.signUp(), await app.signUp()]
  const posts = [await app.publish(first, 'Один'), await app.publish(second, 'Два')]
  for (const { id } of posts) await report(app, own, { postId: id })
  const texts = async () =>
    (await reportsOf(own)).map(({ postText }: { postText: string }) => postText)
  expect(await texts()).toEqual(['Два', 'Один'])
  await app.call('DELETE', `/posts/${posts[0]?.id}`, { token: first.token })
  expect(await texts()).toEqual(['Два', ''])
  await leave(app, second)
  expect(await texts()).toEqual(['', ''])
})
