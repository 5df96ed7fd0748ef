import { sql } from 'kysely'
import { afterAll, expect, test } from 'vitest'
import { isSettled, leave } from '../../testing/account-deletion-calls.ts'
import type { TestUser } from '../../testing/client.ts'
import { expectRefusal, expectTooMany } from '../../testing/expect-refusal.ts'
import { decide, report, restore, signUpModerator } from '../../testing/moderation-calls.ts'
import { passLimitTime } from '../../testing/passing-time.ts'
import { appForTest, startMailApp } from '../../testing/test-app.ts'
import { moveLikes } from '../likes/likes.service.ts'
import { decide as decideBy } from './decisions.service.ts'
import { purgeExpiredPosts } from './hiding.service.ts'
import { countWaiting } from './queue.repository.ts'

const { app, mailbox } = await startMailApp()
afterAll(() => app.close())
const moderator = await signUpModerator(app)

const readQueue = async () =>
  (await app.call('GET', '/moderation/queue', { token: moderator.token })).body
const appeal = ({ token }: TestUser, id: string, to = app) =>
  to.call('POST', `/users/current/removed-posts/${id}/appeal`, {
    token,
    body: { text: 'Верните' },
  })
/** Removes a post as the operator's command does. */
const removeByCommand = (postId: string) =>
  app.db
    .transaction()
    .execute((tx) => decideBy(tx, { postId, verdict: 'remove', actor: 'masha', removedDays: 30 }))

test('a removed post stays as long as its appeal is open, and the queue counts nothing that it cannot show', async () => {
  const author = await app.signUp()
  const { id: waiting } = await app.publish(author, 'Верните меня')
  const { id: silent } = await app.publish(author, 'Забудьте меня')
  for (const id of [waiting, silent]) await removeByCommand(id)
  expect((await appeal(author, waiting)).status).toBe(204)
  await sql`UPDATE posts SET hidden_until = now() - interval '1 second'`.execute(app.db)
  expectRefusal(await appeal(author, silent), 'POST_NOT_FOUND')
  await purgeExpiredPosts(app.db)
  await moveLikes(app.db)
  const left = await app.db
    .selectFrom('posts')
    .select('id')
    .where('hidden_for', 'is not', null)
    .execute()
  expect(left).toEqual([{ id: waiting }])
  expect(await readQueue()).toMatchObject({ total: 1, posts: [{ id: waiting }] })

  // An appeal whose post is gone all the same takes no place in the queue.
  await sql`INSERT INTO appeals (post_id, user_id, text, created_at)
    SELECT 900000 + n, ${author.id}, 'Ушла', now() - interval '1 day' FROM generate_series(1, 25) n`.execute(
    app.db,
  )
  expect(await readQueue()).toMatchObject({ total: 1, posts: [{ id: waiting }] })
  expect(await countWaiting(app.db)).toMatchObject({ posts: 1, appeals: 1 })
  expect((await decide(app, moderator, { postId: waiting, verdict: 'keep' })).status).toBe(204)
  expect((await app.call('GET', `/posts/${waiting}`)).status).toBe(200)
})

test('the mail about a post restored without an appeal mentions no appeal', async () => {
  const author = await app.signUp()
  const { id } = await app.publish(author, 'Ошибка модератора')
  await removeByCommand(id)
  await restore(app, id)
  const { text } = await mailbox.mailAbout(author.email, /^Ваша запись возвращена/)
  expect(text).toContain('Модератор вернул вашу запись')
})

test('the author of a post that was removed after they left gets a mail, unless the account is erased', async () => {
  const author = await app.signUp()
  const { id: postId } = await app.publish(author, 'Купите гараж')
  await report(app, moderator, { postId })
  await leave(app, author)
  await expect.poll(() => isSettled(app)).toBe(true)
  await decide(app, moderator, { postId, verdict: 'remove', reason: 'Продажа гаража.' })
  const { text } = await mailbox.mailAbout(author.email, /^Ваша запись удалена/)
  expect(text).toContain('Купите гараж')
  // The reason has its own full stop.
  expect(text).toContain('Причина: Продажа гаража.\n')
})

test('an author appeals against fifty removals at once; a repeated or impossible appeal is not counted', async () => {
  const strict = await appForTest({ config: { rateLimitScale: 1 } })
  const author = await strict.signUp()
  const { rows } = await sql<{ id: string }>`
    INSERT INTO posts (owner_id, text, hidden_for, hidden_until)
    SELECT ${author.id}, 'Запись', 'removed', 'infinity' FROM generate_series(1, 51) RETURNING id`.execute(
    strict.db,
  )
  const ids = rows.map(({ id }) => id)
  const last = ids.pop() ?? ''
  for (const id of ids) {
    expect((await appeal(author, id, strict)).status).toBe(204)
    expectRefusal(await appeal(author, id, strict), 'ALREADY_APPEALED')
    expectRefusal(await appeal(author, '999999', strict), 'POST_NOT_FOUND')
  }
  const refused = await appeal(author, last, strict)
  expectTooMany(refused, { most: 72 })
  expect(refused.body.message).toMatch(/^Вы обжаловали много решений: /)
  await passLimitTime(strict, 72)
  expect((await appeal(author, last, strict)).status).toBe(204)
})
