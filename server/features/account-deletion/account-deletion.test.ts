import { expect, test } from 'vitest'
import { formatDay } from '../../../contract/dates.ts'
import { readJournal } from '../../kernel/journal/journal.ts'
import { addJob } from '../../kernel/queue/queue.ts'
import {
  areTransitionsDone,
  comeBack,
  leave,
  like,
} from '../../testing/calls/account-deletion-calls.ts'
import { decide, report, signUpModerator } from '../../testing/calls/moderation-calls.ts'
import { startAt } from '../../testing/calls/sign-in-calls.ts'
import { lockWaits } from '../../testing/database/databases.ts'
import { searchColumns } from '../../testing/database/search-columns.ts'
import { expectRefusal } from '../../testing/http/expect-refusal.ts'
import { privacySection } from '../../testing/privacy-page.ts'
import { appForFile, appForTest, mailAppForTest, type TestApp } from '../../testing/test-app.ts'
import { findCounterDifferences } from '../posts/counters.task.ts'
import { setHidden } from '../posts/hidden-posts.repository.ts'
import { lockPost } from '../posts/posts.service.ts'
import { addBan } from '../site-state/site-state.service.ts'
import { eraseNow } from './account-deletion.service.ts'

const app = await appForFile()

const publishChange = async () => {}
const erasure = { nameKey: Buffer.alloc(32, 7), actor: 'masha', publishChange }

const isThere = async ({ db }: TestApp, id: string) =>
  (await db.selectFrom('users').where('id', '=', id).selectAll().execute()).length === 1

/** Olga is to leave, Petr stays. */
async function startConversation(app: TestApp) {
  const [olga, petr] = [await app.signUp(), await app.signUp()]
  const talk = await app.publish(petr, 'О чём говорит стена')
  const post = await app.publish(olga, 'Пишу последнее')
  const answer = await app.reply(olga, talk.id, 'О людях')
  const under = await app.reply(petr, post.id, 'Не уходи')
  const own = await app.reply(olga, post.id, 'Ухожу')
  for (const id of [talk.id, own.id, under.id]) await like(app, olga, id)
  for (const id of [post.id, answer.id]) await like(app, petr, id)
  return { olga, petr, talk, post, answer, under, own }
}

/** Reads what everybody sees of the conversation, and what Petr likes. */
async function readConversation(
  app: TestApp,
  { petr, talk, post }: Awaited<ReturnType<typeof startConversation>>,
) {
  const read = async (path: string) => {
    const { status, body } = await app.call('GET', path, { token: petr.token })
    return status === 200 ? body : status
  }
  return {
    wall: await read('/posts'),
    liked: await read('/posts?filter=liked'),
    talk: await read(`/posts/${talk.id}`),
    replies: await read(`/posts/${talk.id}/replies`),
    post: await read(`/posts/${post.id}`),
    under: await read(`/posts/${post.id}/replies`),
  }
}

test('a deleted account is gone from every screen at once, with exact counts and a mail about it, and whole again when its owner returns', async () => {
  const contactEmail = 'help@vslukh.example'
  const publicUrl = 'https://vslukh.example'
  const { app, mailbox } = await mailAppForTest({ contactEmail, publicUrl })
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
    `${publicUrl}\n`,
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

  await expect.poll(() => areTransitionsDone(app)).toBe(true)
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
  await expect.poll(() => areTransitionsDone(app)).toBe(true)
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
  await expect.poll(() => areTransitionsDone(app)).toBe(true)
  // A queued job would erase the account before the restore is tried.
  await expect.poll(() => app.sql`SELECT FROM graphile_worker.jobs`).toEqual([])
  await app.sql`UPDATE users SET deleted_at = now() - interval '14 days 1 second'
    WHERE id = ${olga.id}`
  expectRefusal(await comeBack(app, olga.email, true), 'OPERATION_EXPIRED')

  await addJob(app.db, 'move-accounts')
  await expect.poll(() => isThere(app, olga.id)).toBe(false)
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

test('an erased moderator leaves nothing but what the page about personal data names', async () => {
  const app = await appForTest({ config: { accessJournalDays: 365 } })
  const olga = await signUpModerator(app)
  const other = await signUpModerator(app)
  const { token } = olga
  const renamed = { token, body: { username: 'olga_the_great' } }
  expect((await app.call('PATCH', '/users/current/profile', renamed)).status).toBe(200)
  const spammer = await app.signUp()
  const spam = await app.publish(spammer, 'Купите гараж')
  await report(app, olga, { postId: spam.id })
  await decide(app, olga, { postId: spam.id, verdict: 'remove', block: { days: 7 } })
  const own = await app.publish(olga, 'Последнее слово Ольги')
  await report(app, other, { postId: own.id })
  await decide(app, other, { postId: own.id, verdict: 'remove' })
  const appeal = { token, body: { text: 'Ольга возражает' } }
  await app.call('POST', `/users/current/removed-posts/${own.id}/appeal`, appeal)
  await app.call('PUT', `/users/${other.id}/mute`, { token })
  await app.call('PUT', `/users/${olga.id}/mute`, { token: other.token })
  const path = `/moderation/users/${olga.id}/block`
  const block = { token: other.token, body: { reason: 'Спорит', days: 1 } }
  expect((await app.call('PUT', path, block)).status).toBe(204)
  const again = await app.signIn(olga.email)
  await startAt(app, '/logins', { email: olga.email })
  await app.call('POST', '/users/current/downloads', { token: again.token })
  const ban = { kind: 'email', value: olga.email, coversAll: false } as const
  await addBan(app.db, { ...ban, seconds: null, reason: null, actor: 'masha' })
  expect((await leave(app, again)).status).toBe(200)

  const words = [
    olga.email,
    olga.username,
    'olga_the_great',
    'Последнее слово Ольги',
    'Ольга возражает',
  ]
  const person = { words, id: olga.id }
  const byEmail = ['posts.hidden_by', 'blocks.blocked_by', 'moderators.email']
  const there = [
    'reports.author_id',
    'mutes.user_id',
    'mutes.muted_id',
    ...byEmail.map((name) => `${name}: ${olga.email}`),
  ]
  expect(await searchColumns(app.db, person)).toEqual(expect.arrayContaining(there))
  await app.sql`UPDATE users SET deleted_at = now() - interval '15 days' WHERE id = ${olga.id}`
  await addJob(app.db, 'move-accounts')
  await expect.poll(() => isThere(app, olga.id)).toBe(false)
  const tables = async () =>
    [...new Set((await searchColumns(app.db, person)).map((place) => place.split('.')[0]))].sort()
  // The queue keeps a job until it is done.
  await expect.poll(tables).toEqual(['access_journal', 'bans', 'journal'])
  const lines = privacySection('Tables about people').split('\n')
  for (const table of await tables()) {
    const line = lines.find((row) => row.startsWith(`| \`${table}\` |`))
    expect(line, table).toContain('also after an erasure')
  }
  expect(await findCounterDifferences(app.db)).toEqual([])
  const accesses = await app.sql`SELECT array_agg(action ORDER BY id) AS actions FROM access_journal
    WHERE user_id = ${olga.id}`
  const actions = ['register', 'publish', 'sign-in', 'delete-account']
  expect(accesses).toEqual([{ actions }])
})

test('an account whose erasure has begun cannot be returned to, and the server completes an interrupted command', async () => {
  const [olga, petr] = [await app.signUp(), await app.signUp()]
  const post = await app.publish(petr, 'О чём говорит стена')
  await app.publish(olga, 'О людях')
  await like(app, olga, post.id)
  const interrupted = () => Promise.reject(new Error('interrupted'))
  const command = eraseNow(app.db, { userId: olga.id, ...erasure, publishChange: interrupted })
  await expect(command).rejects.toThrow('interrupted')
  const back = await comeBack(app, olga.email, true)
  if (await isThere(app, olga.id)) expectRefusal(back, 'OPERATION_EXPIRED')
  await addJob(app.db, 'move-accounts')
  await expect.poll(() => isThere(app, olga.id)).toBe(false)
  expect(await readJournal(app.db, { userId: olga.id })).toMatchObject([
    { actor: 'masha', action: 'user.erase' },
  ])
})

test('a command and the job that erase one account at once write one row into the journal; a later command finds nobody', async () => {
  const olga = await app.signUp()
  for (const text of ['Раз', 'Два', 'Три']) await app.publish(olga, text)
  const erase = () => eraseNow(app.db, { userId: olga.id, ...erasure })
  await Promise.all([erase(), addJob(app.db, 'move-accounts')])
  expect(await isThere(app, olga.id)).toBe(false)
  expect(await readJournal(app.db, { userId: olga.id })).toHaveLength(1)
  await expect(erase()).rejects.toMatchObject({ code: 'USER_NOT_FOUND' })
})

test('a reply that is restored while its author is erased is subtracted from every count', async () => {
  const moderator = await signUpModerator(app)
  const [olga, petr] = [await app.signUp(), await app.signUp()]
  const post = await app.publish(petr, 'О чём говорит стена')
  const { id: postId } = await app.reply(olga, post.id, 'О людях')
  await report(app, petr, { postId })
  await decide(app, moderator, { postId, verdict: 'remove' })

  const restoring = await app.db.startTransaction().execute()
  expect(await lockPost(restoring, postId)).toMatchObject({ hidden_for: 'removed' })
  await setHidden(restoring, [postId], null)
  const command = eraseNow(app.db, { userId: olga.id, ...erasure })
  await expect.poll(() => lockWaits(app)).toBeGreaterThan(0)
  await restoring.commit().execute()
  await command
  expect(await isThere(app, olga.id)).toBe(false)
  const shown = await app.call('GET', `/posts/${post.id}`, { token: petr.token })
  expect(shown.body).toMatchObject({ actions: { replies_count: 0 } })
})
