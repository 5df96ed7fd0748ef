import { afterAll, expect, test } from 'vitest'
import { leave } from '../../testing/account-deletion-calls.ts'
import type { TestUser } from '../../testing/client.ts'
import { expectRefusal } from '../../testing/expect-refusal.ts'
import { decide, readQueue, report, signUpModerator } from '../../testing/moderation-calls.ts'
import { startMailApp } from '../../testing/test-app.ts'

const { app, mailbox } = await startMailApp()
afterAll(() => app.close())
const moderator = await signUpModerator(app)
const reporter = await app.signUp()

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

test('the reporter reads the outcome at once, as new until it was seen', async () => {
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

test('the author’s profile has the time of the newest removal', async () => {
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

test('one mail announces a removal and the block that comes with it', async () => {
  const author = await app.signUp()
  const { id: postId } = await app.publish(author)
  await report(app, reporter, { postId })
  const block = { days: null }
  await decide(app, moderator, { postId, verdict: 'remove', reason: 'Спам', block })
  const { text } = await mailbox.mailAbout(author.email, /запись удалена/)
  expect(text).toContain('\n> Говорят, стены слышат.\n\nТеперь вы можете только читать.')
  const others = mailbox.mails.filter(
    ({ to, subject }) => to === author.email && !/код|^\d/.test(subject),
  )
  expect(others).toHaveLength(1)
})

test('a granted appeal brings the post back, and the author gets a mail', async () => {
  const author = await app.signUp()
  const postId = await removed(author)
  await appeal(author, postId)
  await decide(app, moderator, { postId, verdict: 'keep' })
  expect((await app.call('GET', `/posts/${postId}`, { token: author.token })).status).toBe(200)
  expect(await removedOf(author)).toEqual([])
  await mailbox.mailAbout(author.email, /Ваша запись возвращена/)
})

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
