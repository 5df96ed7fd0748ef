import { sql } from 'kysely'
import { afterAll, expect, test } from 'vitest'
import { RECENT_MAX } from '../../../contract/constants.ts'
import { readJournal } from '../../kernel/journal/journal.ts'
import type { TestAnswer } from '../../testing/client.ts'
import { expectRefusal } from '../../testing/expect-refusal.ts'
import { decide, readQueue, report, signUpModerator } from '../../testing/moderation-calls.ts'
import { startMailApp } from '../../testing/test-app.ts'
import { findCounterDifferences } from '../posts/counters.task.ts'

const { app, mailbox } = await startMailApp()
afterAll(() => app.close())
const moderator = await signUpModerator(app)
const reporter = await app.signUp()

function block(id: string): Promise<TestAnswer> {
  const body = { reason: 'Спам', days: 7, removesRecent: true }
  return app.call('PUT', `/moderation/users/${id}/block`, { token: moderator.token, body })
}

const set = (column: string, value: unknown, id: string) =>
  sql`UPDATE posts SET ${sql.ref(column)} = ${value} WHERE id = ${id}`.execute(app.db)
const twoDaysAgo = () => new Date(Date.now() - 2 * 86_400_000)
const statusOf = async (id: string) =>
  (await app.call('GET', `/posts/${id}`, { token: moderator.token })).status
const removedOf = async (email: string) => {
  const { token } = await app.signIn(email)
  return (await app.call('GET', '/users/current/removed-posts', { token })).body.posts
}

test('a block can remove what the author has published within a day, hidden or not, and nothing older', async () => {
  const author = await app.signUp()
  const old = await app.publish(author, 'Старая')
  await set('created_at', twoDaysAgo(), old.id)
  const question = await app.publish(reporter)
  const recent = [
    await app.publish(author, 'Первая'),
    await app.reply(author, question.id, 'Ответ'),
    await app.publish(author, 'Скрытая'),
  ].map(({ id }) => id)
  const [first = '', , hidden = ''] = recent
  await report(app, reporter, { postId: first })
  await sql`UPDATE posts SET hidden_for = 'reported', hidden_until = 'infinity' WHERE id = ${hidden}`.execute(
    app.db,
  )
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
  const removed = { state: 'removed', appeal: null }
  expect(await removedOf(author.email)).toMatchObject([removed, removed, removed])
})

test('a decision can remove with the post what else its author has published within a day', async () => {
  const author = await app.signUp()
  const [old, other] = [await app.publish(author, 'Старая'), await app.publish(author, 'Другая')]
  await set('created_at', twoDaysAgo(), old.id)
  for (const { id: postId } of [old, other]) await report(app, reporter, { postId })
  const decision = {
    postId: old.id,
    verdict: 'remove',
    block: { days: null, removesRecent: true },
  } as const
  expect((await decide(app, moderator, decision)).status).toBe(204)
  for (const { id } of [old, other]) expect(await statusOf(id)).toBe(404)
  const { text } = await mailbox.mailAbout(author.email, /Ваши записи удалены/)
  expect(text).toContain(': 2.\nПричина: Спам или реклама.')
  expect(text).toContain('Текст первой из них:\n> Старая\n')
  expect(text).toContain('Теперь вы можете только читать.')
  const { token } = reporter
  const { reports } = (await app.call('GET', '/users/current/reports', { token })).body
  expect(reports.slice(0, 2)).toMatchObject([{ outcome: 'removed' }, { outcome: 'removed' }])

  const kept = await app.publish(reporter)
  await report(app, author, { postId: kept.id })
  expectRefusal(await decide(app, moderator, { ...decision, postId: kept.id }), 'POST_NOT_FOUND')
  expect(await statusOf(kept.id)).toBe(200)
})

test('an author with nothing new is blocked alone, and gets a mail with the end and the reason of the block', async () => {
  const author = await app.signUp()
  const { id } = await app.publish(author)
  await set('created_at', twoDaysAgo(), id)
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
  await sql`INSERT INTO posts (owner_id, text)
    SELECT ${author.id}, 'Реклама' FROM generate_series(1, ${RECENT_MAX})`.execute(app.db)
  await report(app, reporter, { postId: oldest.id })
  const queued = (await readQueue(app, moderator)).find(({ id }) => id === oldest.id)
  expect(queued?.author).toMatchObject({ posts: RECENT_MAX + 1, recent: RECENT_MAX })
  expect((await block(author.id)).status).toBe(204)
  expect(await statusOf(oldest.id)).toBe(200)
  const left = app.db.selectFrom('visible_posts').select('id').where('owner_id', '=', author.id)
  expect(await left.execute()).toEqual([{ id: oldest.id }])
}, 60_000)
