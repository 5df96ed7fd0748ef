import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { readJournal } from '../../kernel/journal/journal.ts'
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
import { findPerson } from '../../testing/search-columns.ts'
import { startAt, verifyAt } from '../../testing/sign-in-calls.ts'
import { appForTest, type TestApp } from '../../testing/test-app.ts'
import { findCounterDifferences } from '../posts/counters.task.ts'
import { eraseNow } from './account-deletion.service.ts'

const SOON = { timeout: 15_000 }

const wall = async (app: TestApp) => (await app.call('GET', '/posts?limit=50')).body

/** The journal alone names erased users. */
function isNamedThere(where: string): boolean {
  return where.startsWith('journal.')
}

test('a deleted account is gone from every screen at once, with exact counts, and whole again when its owner returns', async () => {
  const app = await appForTest()
  const all = await startConversation(app)
  const { olga, petr, talk, post, under, own } = all
  const before = await readConversation(app, all)

  const { status, body } = await leave(app, olga)
  expect(status).toBe(200)
  expect(body.erasedAt * 1000 - Date.now()).toBeCloseTo(14 * 86_400_000, -5)
  const gone = await readConversation(app, all)
  expect(gone.post).toBe(404)
  expect(JSON.stringify(gone)).not.toContain(olga.username)
  expect(gone.wall.posts).toMatchObject([{ id: talk.id }])
  expectRefusal(await app.call('GET', '/users/current', { token: olga.token }), 'UNAUTHORIZED')

  await expect.poll(() => isSettled(app), SOON).toBe(true)
  expect(await findCounterDifferences(app.db)).toEqual([])
  await expect
    .poll(() => readConversation(app, all), SOON)
    .toMatchObject({
      wall: { total: 1 },
      liked: { total: 0, posts: [] },
      talk: { actions: { likes_count: 0, replies_count: 0 } },
      replies: { total: 0 },
      under: 404,
    })
  const settled = await readConversation(app, all)
  // Petr's reply stays, with what it answers left out.
  expect((await app.call('GET', `/posts/${under.id}`)).body.actions).toMatchObject({
    likes_count: 0,
    replied_post: null,
  })

  const refused = await comeBack(app, olga.email)
  expectRefusal(refused, 'ACCOUNT_DELETED')
  expect(refused.body.message).toMatch(
    /^Этот аккаунт удалён\. До \d+\u00a0[а-я]+ его можно вернуть/,
  )
  expect(await readConversation(app, all)).toEqual(settled)
  expect((await comeBack(app, olga.email, true)).status).toBe(200)
  await expect.poll(() => isSettled(app), SOON).toBe(true)
  await expect.poll(() => readConversation(app, all), SOON).toEqual(before)
  const back = await app.signIn(olga.email)
  expect(back).toMatchObject({ id: olga.id, username: olga.username })
  const liked = (await app.call('GET', '/posts?filter=liked', { token: back.token })).body
  expect(liked.posts.map(({ id }: { id: string }) => id)).toEqual([under.id, own.id, talk.id])
  expect(await findCounterDifferences(app.db)).toEqual([])
  expect((await like(app, petr, post.id)).body).toEqual({ likes_count: 1 })
}, 60_000)

test('after 14 days an account is erased: replies of others stay, the e-mail is free, the name is not, and no row names the person', async () => {
  const app = await appForTest()
  const all = await startConversation(app)
  const { olga, petr, under } = all
  const renamed = { token: olga.token, body: { username: 'olga_the_great' } }
  expect((await app.call('PATCH', '/users/current/profile', renamed)).status).toBe(200)
  await app.call('POST', `/posts/${under.id}/reports?reason_id=1`, { token: olga.token })
  await app.call('POST', `/posts/${all.post.id}/reports?reason_id=1`, { token: petr.token })
  await startAt(app, '/logins', { email: olga.email })
  await app.call('POST', '/users/current/downloads', { token: olga.token })
  await leave(app, olga)
  await expect.poll(() => isSettled(app), SOON).toBe(true)
  const texts = ['Пишу последнее', 'О людях', 'Ухожу']
  const words = [olga.email, olga.username, 'olga_the_great', ...texts]
  const person = { words, id: olga.id }
  // The search finds what is there.
  const before = await findPerson(app.db, person)
  expect(before).toContain(`users.email: ${olga.email}`)
  expect(before).toContain('posts.text: О людях')
  expect(before).toContain('reports.author_id')
  await sql`UPDATE users SET deleted_at = now() - interval '14 days 1 second' WHERE id = ${olga.id}`.execute(
    app.db,
  )
  expectRefusal(await comeBack(app, olga.email, true), 'OPERATION_EXPIRED')

  await addJob(app.db, 'move-accounts', { payload: {} })
  const isThere = async () =>
    (await app.db.selectFrom('users').where('id', '=', olga.id).selectAll().execute()).length
  await expect.poll(isThere, SOON).toBe(0)
  expect(await findCounterDifferences(app.db)).toEqual([])
  // The queue keeps a job until it is done.
  const left = async () =>
    (await findPerson(app.db, person)).filter((where) => !isNamedThere(where))
  await expect.poll(left, SOON).toEqual([])
  expect((await app.call('GET', `/posts/${under.id}`)).status).toBe(200)

  for (const name of [olga.username, 'olga_the_great', 'Olga_the_Great']) {
    const check = await app.call('GET', `/users/${name}/validation`, { token: petr.token })
    expectRefusal(check, 'USERNAME_ALREADY_EXISTS')
    const take = { token: petr.token, body: { username: name } }
    expectRefusal(
      await app.call('PATCH', '/users/current/profile', take),
      'USERNAME_ALREADY_EXISTS',
    )
  }
  const again = await app.signIn(olga.email)
  expect(again.id).not.toBe(olga.id)
  expect((await wall(app)).total).toBe(1)
}, 60_000)

test('the code deletes one’s own account only, once, and only with the right code', async () => {
  const app = await appForTest()
  const [olga, petr] = [await app.signUp(), await app.signUp()]
  const { token, clientToken } = olga
  const { id } = (
    await app.call('POST', '/users/current/deletion', { token, body: { clientToken } })
  ).body
  const path = `/users/current/deletion/${id}/verify`
  const confirmCode = app.codeFor(id)
  const stranger = { token: petr.token, body: { confirmCode, clientToken: petr.clientToken } }
  expectRefusal(await app.call('POST', path, stranger), 'OPERATION_EXPIRED')
  const wrong = confirmCode === '000000' ? '000001' : '000000'
  const guess = { token, body: { confirmCode: wrong, clientToken } }
  expectRefusal(await app.call('POST', path, guess), 'INVALID_CONFIRM_CODE')
  // A code for signing in deletes nothing.
  const login = (await startAt(app, '/logins', { email: olga.email, clientToken })).body
  const other = { token, body: { confirmCode: app.codeFor(login.id), clientToken } }
  expectRefusal(
    await app.call('POST', `/users/current/deletion/${login.id}/verify`, other),
    'OPERATION_EXPIRED',
  )
  expect((await app.call('GET', '/users/current', { token })).status).toBe(200)
  // And the code for the deletion signs nobody in.
  expectRefusal(
    await verifyAt(app, '/logins', { id, code: confirmCode, clientToken }),
    'OPERATION_EXPIRED',
  )
  const answers = await Promise.all(
    [1, 2, 3].map(() => app.call('POST', path, { token, body: { confirmCode, clientToken } })),
  )
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
}, 60_000)

test('the operator erases an account at once and for good, even one that was never deleted', async () => {
  const app = await appForTest()
  const { olga, petr, under, talk } = await startConversation(app)
  const nameKey = Buffer.alloc(32, 7)
  const publishChange = async () => {}
  await eraseNow(app.db, { userId: olga.id, nameKey, actor: 'operator', publishChange })
  expect(await findCounterDifferences(app.db)).toEqual([])
  const words = [olga.email, olga.username, 'О людях']
  const found = await findPerson(app.db, { words, id: olga.id })
  expect(found.filter((where) => !isNamedThere(where))).toEqual([])
  expect(await readJournal(app.db, { userId: olga.id })).toMatchObject([
    { actor: 'operator', action: 'user.erase' },
  ])
  expectRefusal(await app.call('GET', '/users/current', { token: olga.token }), 'UNAUTHORIZED')
  for (const { id } of [under, talk]) {
    expect((await app.call('GET', `/posts/${id}`, { token: petr.token })).status).toBe(200)
  }
}, 60_000)
