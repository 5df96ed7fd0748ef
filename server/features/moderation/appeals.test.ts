import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { isSettled, leave } from '../../testing/account-deletion-calls.ts'
import type { TestUser } from '../../testing/client.ts'
import { expectRefusal } from '../../testing/expect-refusal.ts'
import type { Mailbox } from '../../testing/mailbox.ts'
import { decide, report, signUpModerator } from '../../testing/moderation-calls.ts'
import { startMailApp, type TestApp } from '../../testing/test-app.ts'
import { moveLikes } from '../likes/likes.service.ts'
import { decide as decideAsOperator } from './decisions.service.ts'
import { purgeExpiredPosts } from './hiding.service.ts'
import { countWaiting } from './queue.repository.ts'

const SOON = { timeout: 15_000 }

let app: TestApp
let mailbox: Mailbox
let moderator: TestUser
beforeAll(async () => {
  ;({ app, mailbox } = await startMailApp())
  moderator = await signUpModerator(app)
})
afterAll(() => app.close())

const readQueue = async () =>
  (await app.call('GET', '/moderation/queue', { token: moderator.token })).body
const appeal = ({ token }: TestUser, id: string) =>
  app.call('POST', `/users/current/removed-posts/${id}/appeal`, {
    token,
    body: { text: 'Верните' },
  })
/** Decides as the operator's command does, about any post. */
const command = (postId: string, verdict: 'remove' | 'keep') =>
  app.db
    .transaction()
    .execute((tx) => decideAsOperator(tx, { postId, verdict, actor: 'masha', removedDays: 30 }))

/** The mail of an author that contains these words, once it has come. */
async function mailTo({ email }: TestUser, words: string): Promise<string> {
  const find = () => mailbox.mails.find(({ to, text }) => to === email && text.includes(words))
  await expect.poll(find, SOON).toBeDefined()
  return `${find()?.subject}\n${find()?.text}`
}

test('a removed post stays as long as its appeal is open, and the queue counts nothing that it cannot show', async () => {
  const author = await app.signUp()
  const { id: waiting } = await app.publish(author, 'Верните меня')
  const { id: silent } = await app.publish(author, 'Забудьте меня')
  for (const id of [waiting, silent]) await command(id, 'remove')
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

test('the author of a post that is restored without an appeal is not told that somebody agreed', async () => {
  const author = await app.signUp()
  const { id } = await app.publish(author, 'Ошибка модератора')
  await command(id, 'remove')
  await mailTo(author, 'Модератор удалил вашу запись')
  await command(id, 'keep')
  expect(await mailTo(author, 'Модератор вернул вашу запись')).toContain('Ваша запись возвращена')
})

test('the author of a post that was removed after they left gets a mail, unless the account is erased', async () => {
  const author = await app.signUp()
  const { id: postId } = await app.publish(author, 'Купите гараж')
  await report(app, moderator, { postId })
  await leave(app, author)
  await expect.poll(() => isSettled(app), SOON).toBe(true)
  await decide(app, moderator, { postId, verdict: 'remove', reason: 'Продажа гаража.' })
  const told = await mailTo(author, 'Модератор удалил вашу запись')
  expect(told).toContain('Купите гараж')
  // The reason has its own full stop.
  expect(told).toContain('Причина: Продажа гаража.\n')
})
