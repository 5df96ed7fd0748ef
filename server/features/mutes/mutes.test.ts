import { beforeEach, expect, test } from 'vitest'
import { MUTES_MAX } from '../../../contract/constants.ts'
import { comeBack, leave, like } from '../../testing/calls/account-deletion-calls.ts'
import { countCodes } from '../../testing/calls/sign-in-calls.ts'
import { passTime } from '../../testing/database/passing-time.ts'
import { atOnce } from '../../testing/http/at-once.ts'
import type { TestUser } from '../../testing/http/client.ts'
import { allEndpoints } from '../../testing/http/endpoints.ts'
import { expectRefusal } from '../../testing/http/expect-refusal.ts'
import { appForFile } from '../../testing/test-app.ts'
import { listAddress, PAGED_LISTS } from '../posts/lists.fixture.ts'
import { removeEndedMutes } from './mutes.repository.ts'

const app = await appForFile()
let anna: TestUser
let petr: TestUser
let vera: TestUser
beforeEach(async () => {
  ;[anna, petr, vera] = await Promise.all([app.signUp(), app.signUp(), app.signUp()])
})

const mute = ({ id }: { id: string }, method: 'PUT' | 'DELETE' = 'PUT', { token } = anna) =>
  app.call(method, `/users/${id}/mute`, { token })
const mutesOf = async (user: TestUser) => (await app.read('/users/current/mutes', user)).users

/** Every list of posts. */
const POST_LISTS: Record<string, { leavesOutMuted?: true }> = {
  ...PAGED_LISTS,
  'GET /posts/:id/ancestors': {},
  'GET /posts/search?q=слово&limit=50': { leavesOutMuted: true },
  // What the viewer wrote.
  'GET /users/current/removed-posts': {},
}

test('a user’s received replies and search leave out the authors whom that user has muted; no other list does, for anybody', async () => {
  const lists = [...(await allEndpoints())].filter(
    ([, { answer, access }]) => access !== 'moderator' && /"posts":/.test(JSON.stringify(answer)),
  )
  const inTable = new Set(Object.keys(POST_LISTS).map((name) => name.split('?')[0]))
  expect(lists.map(([name]) => name).sort()).toEqual([...inTable].sort())

  const post = await app.publish(anna)
  for (const author of [petr, vera]) {
    await app.publish(author)
    await like(app, anna, (await app.reply(author, post.id, 'Слово в ответ')).id)
  }
  const authorsFor = async (name: string, viewer: TestUser): Promise<string[]> => {
    const { posts } = await app.read(listAddress(name, viewer.id, post.id), viewer)
    return posts.map(({ owner }: { owner: TestUser }) => owner.id)
  }
  for (const [name, { leavesOutMuted = false }] of Object.entries(POST_LISTS)) {
    const before = await authorsFor(name, anna)
    const beforeOfPetr = await authorsFor(name, petr)
    await mute(petr)
    const after = before.filter((id) => !leavesOutMuted || id !== petr.id)
    expect(await authorsFor(name, anna), name).toEqual(after)
    expect(await authorsFor(name, petr), name).toEqual(beforeOfPetr)
    expect(after.length < before.length, name).toBe(leavesOutMuted)
    await mute(petr, 'DELETE')
    expect(await authorsFor(name, anna), name).toEqual(before)
  }
})

test('muted people are listed, the last first; muting or unmuting twice changes nothing, and others see nothing of it', async () => {
  const name = ({ id, username }: TestUser) => ({ id, username })
  for (const whom of [petr, vera, petr]) expect((await mute(whom)).status).toBe(204)
  expect(await mutesOf(anna)).toEqual([name(vera), name(petr)])
  expect(await mutesOf(petr)).toEqual([])
  for (const _ of [1, 2]) expect((await mute(petr, 'DELETE')).status).toBe(204)
  expect(await mutesOf(anna)).toEqual([name(vera)])
  for (const id of ['x', '0', '999999999999999999']) {
    expectRefusal(await mute({ id }), 'NOT_FOUND')
    expectRefusal(await mute({ id }, 'DELETE'), 'NOT_FOUND')
  }
})

test('a reply of a muted author is not unread, and is again when the author is unmuted; the account says both', async () => {
  const account = () => app.read('/users/current', anna)
  const post = await app.publish(anna)
  await app.reply(petr, post.id)
  await mute(petr)
  await app.reply(petr, post.id)
  await app.reply(vera, post.id)
  expect(await account()).toMatchObject({ received: { unread: 1 }, mutedAuthors: [petr.id] })
  expect((await app.read('/posts/replies/received', anna)).total).toBe(1)
  await mute(petr, 'DELETE')
  const received = await app.read('/users/current/received', anna)
  expect(received.unread).toBe(3)
  expect((await account()).received).toEqual(received)
})

test('a muted user who has left is not listed, and is muted again after a return, until unmuted', async () => {
  await mute(petr)
  await leave(app, petr)
  expect(await mutesOf(anna)).toEqual([])
  expectRefusal(await mute(petr, 'PUT', vera), 'NOT_FOUND')
  expect((await comeBack(app, petr.email, true)).status).toBe(200)
  expect(await mutesOf(anna)).toMatchObject([{ id: petr.id }])
  expect((await mute(petr, 'DELETE')).status).toBe(204)
})

test('a mute for some days ends by itself, everywhere, and is removed then', async () => {
  const count = async () => (await app.sql`SELECT FROM mutes WHERE user_id = ${anna.id}`).length
  const list = async () => {
    const post = await app.read('/posts/replies/received', anna)
    const found = await app.read(`/posts/search?q=${encodeURIComponent('неделя')}`, anna)
    const account = await app.read('/users/current', anna)
    const { unread } = await app.read('/users/current/received', anna)
    return [post.total, found.posts.length, account.mutedAuthors, unread]
  }
  const post = await app.publish(anna)
  await app.reply(petr, post.id, 'Через неделю')
  const shown = [1, 1, undefined, 1]
  const hidden = [0, 0, [petr.id], 0]
  expect(await list()).toEqual(shown)
  const muteForWeek = () => app.call('PUT', `/users/${petr.id}/mute?days=7`, { token: anna.token })
  for (const _ of [1, 2]) expect((await muteForWeek()).status).toBe(204)
  const [listed] = await mutesOf(anna)
  expect(Math.abs(listed.until - Date.now() / 1000 - 7 * 86_400)).toBeLessThan(60)
  expect(await list()).toEqual(hidden)
  await passTime(app.db, 7 * 86_400 + 1, 'mutes', 'until')
  expect([await list(), await mutesOf(anna), await count()]).toEqual([shown, [], 1])
  await muteForWeek()
  expect(await list()).toEqual(hidden)
  // Without days it has no end any more.
  await mute(petr)
  await passTime(app.db, 7 * 86_400 + 1, 'mutes', 'until')
  expect([await list(), (await mutesOf(anna))[0].until]).toEqual([hidden, undefined])
  await muteForWeek()
  await passTime(app.db, 7 * 86_400 + 1, 'mutes', 'until')
  await removeEndedMutes(app.db)
  expect(await count()).toBe(0)
  for (const days of ['0', '366', '1.5', 'x']) {
    const answer = await app.call('PUT', `/users/${petr.id}/mute?days=${days}`, anna)
    expectRefusal(answer, 'INVALID_REQUEST')
  }
})

test('no mute is past the thousandth, even of two at once', async () => {
  await app.sql`WITH others AS (
      INSERT INTO users (username, email, email_key)
      SELECT ${anna.username} || n, n || ${anna.email}, n || ${anna.email}
      FROM generate_series(1, ${MUTES_MAX - 1}::int) n RETURNING id
    )
    INSERT INTO mutes (user_id, muted_id) SELECT ${anna.id}::bigint, id FROM others`
  const both = await atOnce([petr, vera].map((whom) => () => mute(whom)))
  expect(countCodes(both)).toEqual({ ok: 1, TOO_MANY_MUTES: 1 })
  const users = await mutesOf(anna)
  expect(users).toHaveLength(MUTES_MAX)
  expect((await mute(users[0])).status).toBe(204)
})
