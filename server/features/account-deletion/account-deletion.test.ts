import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { formatDay } from '../../../contract/dates.ts'
import { addJob } from '../../kernel/queue/queue.ts'
import {
  comeBack,
  isSettled,
  leave,
  like,
  readConversation,
  startConversation,
} from '../../testing/account-deletion-calls.ts'
import { expectRefusal } from '../../testing/expect-refusal.ts'
import { appForTest, mailAppForTest } from '../../testing/test-app.ts'
import { findCounterDifferences } from '../posts/counters.task.ts'

test('a deleted account is gone from every screen at once, with exact counts and a mail about it, and whole again when its owner returns', async () => {
  const contactEmail = 'help@vslukh.example'
  const { app, mailbox } = await mailAppForTest({
    contactEmail,
    publicUrl: 'https://vslukh.example',
  })
  const all = await startConversation(app)
  const { olga, petr, talk, post, under, own } = all
  const before = await readConversation(app, all)

  const { status, body } = await leave(app, olga)
  expect(status).toBe(200)
  const mail = await mailbox.mailAbout(olga.email, /удалён/)
  expect(mail.subject).toBe('Аккаунт удалён · Вслух')
  for (const part of [
    `Аккаунт ${olga.username} на сайте «Вслух» удалён`,
    `До ${formatDay(body.erasedAt * 1000)} аккаунт можно вернуть`,
    'https://vslukh.example\n',
    `напишите нам: ${contactEmail}`,
  ]) {
    expect(mail.text).toContain(part)
  }
  expect(body.erasedAt * 1000 - Date.now()).toBeCloseTo(14 * 86_400_000, -5)
  const gone = await readConversation(app, all)
  expect(gone.post).toBe(404)
  expect(JSON.stringify(gone)).not.toContain(olga.username)
  expect(gone.wall.posts).toMatchObject([{ id: talk.id }])
  expectRefusal(await app.call('GET', '/users/current', { token: olga.token }), 'UNAUTHORIZED')

  await expect.poll(() => isSettled(app)).toBe(true)
  expect(await findCounterDifferences(app.db)).toEqual([])
  const without = {
    wall: { total: 1 },
    liked: { total: 0, posts: [] },
    talk: { actions: { likes_count: 0, replies_count: 0 } },
    replies: { total: 0 },
    under: 404,
  }
  await expect.poll(() => readConversation(app, all)).toMatchObject(without)
  const settled = await readConversation(app, all)
  // Petr's reply stays, with what it answers left out.
  const { actions } = (await app.call('GET', `/posts/${under.id}`)).body
  expect(actions).toMatchObject({ likes_count: 0, replied_post: null })

  const refused = await comeBack(app, olga.email)
  expectRefusal(refused, 'ACCOUNT_DELETED')
  expect(refused.body.message).toMatch(
    /^Этот аккаунт удалён\. До \d+\u00a0[а-я]+ его можно вернуть/,
  )
  expect(await readConversation(app, all)).toEqual(settled)
  expect((await comeBack(app, olga.email, true)).status).toBe(200)
  await expect.poll(() => isSettled(app)).toBe(true)
  await expect.poll(() => readConversation(app, all)).toEqual(before)
  const back = await app.signIn(olga.email)
  expect(back).toMatchObject({ id: olga.id, username: olga.username })
  const liked = (await app.call('GET', '/posts?filter=liked', { token: back.token })).body
  expect(liked.posts.map(({ id }: { id: string }) => id)).toEqual([under.id, own.id, talk.id])
  expect(await findCounterDifferences(app.db)).toEqual([])
  expect((await like(app, petr, post.id)).body).toEqual({ likes_count: 1 })
}, 60_000)

test('after 14 days an account is erased: replies of others stay, the e-mail is free, and the names are not', async () => {
  const app = await appForTest()
  const all = await startConversation(app)
  const { olga, petr, under } = all
  const renamed = { token: olga.token, body: { username: 'olga_the_great' } }
  expect((await app.call('PATCH', '/users/current/profile', renamed)).status).toBe(200)
  await leave(app, olga)
  await expect.poll(() => isSettled(app)).toBe(true)
  // A queued job would erase the account before the restore is tried.
  const jobs = sql`SELECT FROM graphile_worker.jobs WHERE task_identifier = 'move-accounts'`
  await expect.poll(async () => (await jobs.execute(app.db)).rows).toEqual([])
  await sql`UPDATE users SET deleted_at = now() - interval '14 days 1 second' WHERE id = ${olga.id}`.execute(
    app.db,
  )
  expectRefusal(await comeBack(app, olga.email, true), 'OPERATION_EXPIRED')

  await addJob(app.db, 'move-accounts', { payload: {} })
  const isThere = async () =>
    (await app.db.selectFrom('users').where('id', '=', olga.id).selectAll().execute()).length
  await expect.poll(isThere).toBe(0)
  expect(await findCounterDifferences(app.db)).toEqual([])
  expect((await app.call('GET', `/posts/${under.id}`)).status).toBe(200)

  for (const name of [olga.username, 'olga_the_great', 'Olga_the_Great']) {
    const check = await app.call('GET', `/users/${name}/validation`, { token: petr.token })
    expectRefusal(check, 'USERNAME_ALREADY_EXISTS')
    const sent = { token: petr.token, body: { username: name } }
    const take = await app.call('PATCH', '/users/current/profile', sent)
    expectRefusal(take, 'USERNAME_ALREADY_EXISTS')
  }
  const again = await app.signIn(olga.email)
  expect(again.id).not.toBe(olga.id)
  expect((await app.call('GET', '/posts')).body.total).toBe(1)
}, 60_000)
