import { expect, test } from 'vitest'
import { RECENT_POSTS_MAX } from '../../../contract/constants.ts'
import type { Post } from '../../../contract/posts.ts'
import { readJournal } from '../../kernel/journal/journal.ts'
import { leave } from '../../testing/calls/account-deletion-calls.ts'
import {
  decide,
  readQueue,
  report,
  restore,
  signUpModerator,
} from '../../testing/calls/moderation-calls.ts'
import { passLimitTime } from '../../testing/database/passing-time.ts'
import { atOnce } from '../../testing/http/at-once.ts'
import type { TestUser } from '../../testing/http/client.ts'
import { expectRefusal, expectTooMany } from '../../testing/http/expect-refusal.ts'
import { appForTest, mailAppForFile } from '../../testing/test-app.ts'
import { purgePosts } from '../likes/likes.service.ts'
import { purgeExpiredPosts } from './hiding.service.ts'
import { countWaiting } from './queue.repository.ts'

const { app, mailbox } = await mailAppForFile()
const moderator = await signUpModerator(app)
const reporter = await app.signUp()

const profileOf = (user: TestUser) => app.read('/users/current', user)
const reportsOf = async (user: TestUser) => (await app.read('/users/current/reports', user)).reports
const removedOf = async (user: TestUser) =>
  (await app.read('/users/current/removed-posts', user)).posts
const appeal = ({ token }: TestUser, id: string, { text = 'Это был не спам', to = app } = {}) =>
  to.call('POST', `/users/current/removed-posts/${id}/appeal`, { token, body: { text } })
async function removed(author: TestUser, text = 'Куплю гараж'): Promise<string> {
  const { id: postId } = await app.publish(author, text)
  await report(app, reporter, { postId })
  await decide(app, moderator, { postId, verdict: 'remove' })
  return postId
}

test('the reporter reads the outcome at once, as new until it was seen', async () => {
  const [author, own] = [await app.signUp(), await app.signUp()]
  const [gone, kept] = [await app.publish(author, 'Первая'), await app.publish(author, 'Вторая')]
  await report(app, own, { postId: gone.id, reasonId: '8', comment: 'Плохая запись' })
  await report(app, own, { postId: kept.id })
  const see = () => app.call('PUT', '/users/current/reports/seen', { token: own.token })
  await see()
  const open = ({ id }: Post) => ({ postId: id, outcome: 'open', decidedAt: null, isNew: false })
  expect(await reportsOf(own)).toMatchObject([open(kept), open(gone)])
  expect(await profileOf(own)).not.toHaveProperty('hasNewOutcomes')
  await decide(app, moderator, { postId: gone.id, verdict: 'remove' })
  await decide(app, moderator, { postId: kept.id, verdict: 'keep' })
  expect(await profileOf(own)).toHaveProperty('hasNewOutcomes', true)
  const why = { reason: 'Другое нарушение', comment: 'Плохая запись' }
  expect(await reportsOf(own)).toMatchObject([
    { postText: 'Вторая', outcome: 'kept', isNew: true, comment: null },
    { postText: 'Первая', outcome: 'removed', isNew: true, ...why },
  ])
  await see()
  expect(await reportsOf(own)).toMatchObject([{ isNew: false }, { isNew: false }])
  expect(await profileOf(own)).not.toHaveProperty('hasNewOutcomes')
  expect(await reportsOf(author)).toEqual([])
})

test('a reporter reads a text only until its author deletes it, or the account', async () => {
  const [own, first, second] = [await app.signUp(), await app.signUp(), await app.signUp()]
  const [one, two] = [await app.publish(first, 'Один'), await app.publish(second, 'Два')]
  for (const { id: postId } of [one, two]) await report(app, own, { postId })
  const texts = async () =>
    (await reportsOf(own)).map(({ postText }: { postText: string }) => postText)
  expect(await texts()).toEqual(['Два', 'Один'])
  await app.call('DELETE', `/posts/${one.id}`, { token: first.token })
  expect(await texts()).toEqual(['Два', ''])
  await leave(app, second)
  expect(await texts()).toEqual(['', ''])
})

test('the author sees a removed post with its reason, gets a mail, and appeals once; a refusal is final', async () => {
  const author = await app.signUp()
  expect(await profileOf(author)).not.toHaveProperty('lastRemoval')
  const postId = await removed(author)
  const [post] = await removedOf(author)
  const facts = { id: postId, text: 'Куплю гараж', reason: 'Спам или реклама', appeal: null }
  expect(post).toMatchObject(facts)
  expect(await profileOf(author)).toHaveProperty('lastRemoval', post.removedAt)
  const mail = await mailbox.mailAbout(author.email, /Ваша запись удалена/)
  expect(mail.text).toContain('Причина: Спам или реклама.')
  expect(mail.text).toContain('\n> Куплю гараж\n\n')
  expect(mail.text.trimEnd()).toMatch(/own\/posts$/)

  expectRefusal(await appeal(reporter, postId), 'POST_NOT_FOUND')
  expectRefusal(await appeal(author, postId, { text: '\u200b' }), 'INVALID_REQUEST')
  expect((await appeal(author, postId)).status).toBe(204)
  expectRefusal(await appeal(author, postId), 'ALREADY_APPEALED')
  const open = { text: 'Это был не спам', state: 'open' }
  expect(await removedOf(author)).toMatchObject([{ appeal: open }])
  const posts = await readQueue(app, moderator)
  expect(posts.find(({ id }) => id === postId)).toMatchObject({
    state: 'removed',
    reporters: 0,
    appeal: { text: 'Это был не спам', removedFor: 'Спам или реклама' },
  })
  await decide(app, moderator, { postId, verdict: 'remove' })
  expect(await removedOf(author)).toMatchObject([{ appeal: { state: 'refused' } }])
  expectRefusal(await appeal(author, postId), 'ALREADY_APPEALED')
  await mailbox.mailAbout(author.email, /Решение осталось в силе/)
})

test('a granted appeal brings the post back, with a mail, and a later removal can be appealed again; a mail about a restoration without an appeal mentions none', async () => {
  const author = await app.signUp()
  const postId = await removed(author)
  await appeal(author, postId)
  await decide(app, moderator, { postId, verdict: 'keep' })
  expect((await app.read(`/posts/${postId}`, author)).id).toBe(postId)
  expect([await removedOf(author), (await reportsOf(reporter))[0].outcome]).toEqual([[], 'kept'])
  const granted = await mailbox.mailAbout(author.email, /Ваша запись возвращена/)
  expect(granted.text).toContain('Модератор согласился с вами')
  await decide(app, moderator, { postId, verdict: 'remove', unreported: true })
  expect(await removedOf(author)).toMatchObject([{ id: postId, appeal: null }])
  expect((await appeal(author, postId, { text: 'Снова не спам' })).status).toBe(204)
  const again = { text: 'Снова не спам', state: 'open' }
  expect(await removedOf(author)).toMatchObject([{ appeal: again }])
  await decide(app, moderator, { postId, verdict: 'remove' })
  expect(await removedOf(author)).toMatchObject([{ appeal: { state: 'refused' } }])

  await restore(app, await removed(author))
  const restored = await mailbox.mailAbout(author.email, /^Ваша запись возвращена/, 2)
  expect(restored.text).toContain('Модератор вернул вашу запись')
})

test('a removed post stays as long as its appeal is open, and the queue counts nothing that it cannot show', async () => {
  await app.sql`UPDATE reports SET state = 'kept', decided_at = now() WHERE state = 'open'`
  const author = await app.signUp()
  const [waiting, silent] = [await removed(author), await removed(author, 'Забудьте меня')]
  expect((await appeal(author, waiting)).status).toBe(204)
  await app.sql`UPDATE posts SET hidden_until = now() - interval '1 second'
    WHERE hidden_for IS NOT NULL`
  expectRefusal(await appeal(author, silent), 'POST_NOT_FOUND')
  await purgeExpiredPosts(app.db)
  await purgePosts(app.db)
  const hidden = await app.sql`SELECT id FROM posts WHERE hidden_for IS NOT NULL`
  expect(hidden).toEqual([{ id: waiting }])

  // An appeal whose post is gone all the same takes no place in the queue.
  await app.sql`INSERT INTO appeals (post_id, user_id, text, created_at)
    SELECT 900000 + n, ${author.id}, 'Ушла', now() - interval '1 day' FROM generate_series(1, 25) n`
  const queue = await app.read('/moderation/queue', moderator)
  expect(queue).toMatchObject({ total: 1, posts: [{ id: waiting }] })
  expect(await countWaiting(app.db)).toMatchObject({ posts: 1, appeals: 1 })
  expect((await decide(app, moderator, { postId: waiting, verdict: 'keep' })).status).toBe(204)
  expect((await app.read(`/posts/${waiting}`)).id).toBe(waiting)
})

test('an author appeals against fifty removals at once; a repeated or impossible appeal is not counted', async () => {
  const strict = await appForTest({ config: { rateLimitScale: 1 } })
  const author = await strict.signUp()
  const rows = await strict.sql<{ id: string }>`
    INSERT INTO posts (owner_id, text, hidden_for, hidden_until)
    SELECT ${author.id}, 'Запись', 'removed', 'infinity' FROM generate_series(1, 51) RETURNING id`
  const [last = '', ...ids] = rows.map(({ id }) => id)
  for (const [at, id] of ids.entries()) {
    expect((await appeal(author, id, { to: strict })).status).toBe(204)
    if (at % 10 > 0) continue
    expectRefusal(await appeal(author, id, { to: strict }), 'ALREADY_APPEALED')
    expectRefusal(await appeal(author, '999999', { to: strict }), 'POST_NOT_FOUND')
  }
  const refused = await appeal(author, last, { to: strict })
  expectTooMany(refused, { most: 72 })
  expect(refused.body.message).toMatch(/^Вы обжаловали много решений: /)
  await passLimitTime(strict, 72)
  expect((await appeal(author, last, { to: strict })).status).toBe(204)
})

const block = (id: string) =>
  app.call('PUT', `/moderation/users/${id}/block`, {
    token: moderator.token,
    body: { reason: 'Спам', days: 7, removesRecent: true },
  })
const age = (id: string) =>
  app.sql`UPDATE posts SET created_at = now() - interval '2 days' WHERE id = ${id}`
const statusOf = async (id: string) =>
  (await app.call('GET', `/posts/${id}`, { token: moderator.token })).status

test('a block can remove what the author has published within a day, hidden or not, and nothing older', async () => {
  const author = await app.signUp()
  const old = await app.publish(author, 'Старая')
  await age(old.id)
  const question = await app.publish(reporter)
  const recent = [
    await app.publish(author, 'Первая'),
    await app.reply(author, question.id, 'Ответ'),
    await app.publish(author, 'Скрытая'),
  ].map(({ id }) => id)
  const [first = '', , hidden = ''] = recent
  await report(app, reporter, { postId: first })
  await app.sql`UPDATE posts SET hidden_for = 'reported', hidden_until = 'infinity'
    WHERE id = ${hidden}`
  expect((await block(author.id)).status).toBe(204)
  for (const id of [...recent, old.id]) expect(await statusOf(id)).toBe(id === old.id ? 200 : 404)
  expect((await readQueue(app, moderator)).map(({ id }) => id)).not.toContain(first)
  const journal = await readJournal(app.db, { userId: author.id })
  const acts = journal.map(({ action, reason }) => `${action} ${reason}`).sort()
  const removal = 'post.remove Спам'
  expect(acts).toEqual([removal, removal, removal, 'user.block Спам'])

  const { text } = await mailbox.mailAbout(author.email, /Ваши записи удалены/)
  expect(text).toContain('удалил ваши записи на сайте «Вслух»: 3.\nПричина: Спам.')
  expect(text).toMatch(/^До \d+\u00a0[а-я]+\u00a0\d{4} вы можете только читать\.$/m)
  const gone = { state: 'removed', appeal: null }
  expect(await removedOf(await app.signIn(author.email))).toMatchObject([gone, gone, gone])
})

test('a block that arrives twice at once removes each post once, and blocks once', async () => {
  const author = await app.signUp()
  for (const text of ['Первая', 'Вторая', 'Третья']) await app.publish(author, text)
  const answers = await atOnce([() => block(author.id), () => block(author.id)])
  expect(answers.map(({ status }) => status)).toEqual([204, 204])
  const journal = await readJournal(app.db, { userId: author.id })
  const acts = journal.map(({ action }) => action).sort()
  expect(acts).toEqual(['post.remove', 'post.remove', 'post.remove', 'user.block'])
})

test('a decision can remove with the post what else its author has published within a day', async () => {
  const author = await app.signUp()
  const [old, other] = [await app.publish(author, 'Старая'), await app.publish(author, 'Другая')]
  await age(old.id)
  for (const { id: postId } of [old, other]) await report(app, reporter, { postId })
  const block = { days: null, removesRecent: true }
  const remove = (postId: string) => decide(app, moderator, { postId, verdict: 'remove', block })
  expect((await remove(old.id)).status).toBe(204)
  for (const { id } of [old, other]) expect(await statusOf(id)).toBe(404)
  const { text } = await mailbox.mailAbout(author.email, /Ваши записи удалены/)
  expect(text).toContain(': 2.\nПричина: Спам или реклама.')
  expect(text).toContain('Текст первой из них:\n> Старая\n')
  expect(text).toContain('Теперь вы можете только читать.')
  // No other mail announces the block.
  const about = mailbox.mails.filter(({ to }) => to === author.email).map((mail) => mail.subject)
  expect(about.filter((subject) => !/код|^\d/.test(subject))).toHaveLength(1)
  const outcome = 'removed'
  expect((await reportsOf(reporter)).slice(0, 2)).toMatchObject([{ outcome }, { outcome }])

  const kept = await app.publish(reporter)
  await report(app, author, { postId: kept.id })
  expectRefusal(await remove(kept.id), 'POST_NOT_FOUND')
  expect(await statusOf(kept.id)).toBe(200)
})

test('an author with nothing new is blocked alone, and gets a mail with the end and the reason of the block', async () => {
  const author = await app.signUp()
  const { id } = await app.publish(author)
  await age(id)
  expect((await block(author.id)).status).toBe(204)
  expect(await statusOf(id)).toBe(200)
  const { subject, text } = await mailbox.mailAbout(author.email, /только читать/)
  expect(subject).toBe('Вы можете только читать · Вслух')
  expect(text).toContain('Причина: Спам.\n')
  expect(text).toMatch(/^До \d+\u00a0[а-я]+\u00a0\d{4} вы можете только читать\.$/m)
  expectRefusal(await block('999999'), 'USER_NOT_FOUND')
})

test('moderators do not remove their own posts so, and are not blocked by it', async () => {
  const { id } = await app.publish(moderator)
  expectRefusal(await block(moderator.id), 'OWN_POST')
  expect(await statusOf(id)).toBe(200)
  expect((await app.call('GET', '/moderation/queue', { token: moderator.token })).status).toBe(200)
})

test('the newest posts of a flood are counted, and removed at once', async () => {
  const author = await app.signUp()
  const oldest = await app.publish(author)
  await app.sql`INSERT INTO posts (owner_id, text)
    SELECT ${author.id}, 'Реклама' FROM generate_series(1, ${RECENT_POSTS_MAX})`
  await report(app, reporter, { postId: oldest.id })
  const queued = (await readQueue(app, moderator)).find(({ id }) => id === oldest.id)
  expect(queued?.author).toMatchObject({ posts: RECENT_POSTS_MAX + 1, recent: RECENT_POSTS_MAX })
  expect((await block(author.id)).status).toBe(204)
  expect(await statusOf(oldest.id)).toBe(200)
  const left = await app.sql`SELECT id FROM visible_posts WHERE owner_id = ${author.id}`
  expect(left).toEqual([{ id: oldest.id }])
}, 60_000)
