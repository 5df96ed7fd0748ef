import { afterAll, expect, test } from 'vitest'
import { RECENT_MAX } from '../../../contract/constants.ts'
import { readJournal } from '../../kernel/journal/journal.ts'
import { expectRefusal } from '../../testing/expect-refusal.ts'
import { decide, readQueue, report, signUpModerator } from '../../testing/moderation-calls.ts'
import { startMailApp } from '../../testing/test-app.ts'
import { findCounterDifferences } from '../posts/counters.task.ts'

const { app, mailbox } = await startMailApp()
afterAll(() => app.close())
const moderator = await signUpModerator(app)
const reporter = await app.signUp()

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
  expect(await findCounterDifferences(app.db)).toEqual([])

  const { text } = await mailbox.mailAbout(author.email, /Ваши записи удалены/)
  expect(text).toContain('удалил ваши записи на сайте «Вслух»: 3.\nПричина: Спам.')
  expect(text).toMatch(/^До \d+\u00a0[а-я]+\u00a0\d{4} вы можете только читать\.$/m)
  const again = await app.signIn(author.email)
  const { posts } = await app.read('/users/current/removed-posts', again)
  const removed = { state: 'removed', appeal: null }
  expect(posts).toMatchObject([removed, removed, removed])
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
  const { reports } = await app.read('/users/current/reports', reporter)
  expect(reports.slice(0, 2)).toMatchObject([{ outcome: 'removed' }, { outcome: 'removed' }])

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
    SELECT ${author.id}, 'Реклама' FROM generate_series(1, ${RECENT_MAX})`
  await report(app, reporter, { postId: oldest.id })
  const queued = (await readQueue(app, moderator)).find(({ id }) => id === oldest.id)
  expect(queued?.author).toMatchObject({ posts: RECENT_MAX + 1, recent: RECENT_MAX })
  expect((await block(author.id)).status).toBe(204)
  expect(await statusOf(oldest.id)).toBe(200)
  const left = await app.sql`SELECT id FROM visible_posts WHERE owner_id = ${author.id}`
  expect(left).toEqual([{ id: oldest.id }])
}, 60_000)
