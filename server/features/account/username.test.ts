import { expect, test } from 'vitest'
import { newEmail } from '../../testing/calls/account-fixture.ts'
import { clientHeaders, countCodes } from '../../testing/calls/sign-in-calls.ts'
import { lockWaits } from '../../testing/database/databases.ts'
import { passLimitTime, passTime, stopClock } from '../../testing/database/passing-time.ts'
import { atOnce } from '../../testing/http/at-once.ts'
import type { TestUser } from '../../testing/http/client.ts'
import { expectRefusal, expectTooMany } from '../../testing/http/expect-refusal.ts'
import { appForFile, strictApp, testPerNode } from '../../testing/test-app.ts'
import { insertUser, removeExpiredAccountRows } from './account.repository.ts'
import { renameUser } from './account.service.ts'

const MINUTE = 60
const HOUR = 3600
const DAY = 86_400

const app = await appForFile()

function check({ token }: TestUser, username: string) {
  return app.call('GET', `/users/${encodeURIComponent(username)}/validation`, { token })
}

function take({ token }: TestUser, username: string, by = app) {
  return by.call('PATCH', '/users/current/profile', { token, body: { username } })
}

test('a valid free username is available, and can be taken; so can the longest, of 32 characters', async () => {
  const olga = await app.signUp()
  const { body } = await check(olga, 'Olga_1987')
  expect(body).toEqual({ username: 'Olga_1987', available: true })
  const taken = await take(olga, 'Olga_1987')
  const { id, email } = olga
  expect(taken).toMatchObject({ status: 200, body: { id, username: 'Olga_1987', email } })
  const { body: account } = await app.call('GET', '/users/current', { token: olga.token })
  expect(account.username).toBe('Olga_1987')
  expect((await take(olga, 'o'.repeat(32))).status).toBe(200)
})

test('a taken username is USERNAME_ALREADY_EXISTS in any case, and free to the user who has it', async () => {
  const [olga, petr] = [await app.signUp(), await app.signUp()]
  await take(olga, 'TakenName')
  for (const username of ['TakenName', 'takenname', 'TAKENNAME']) {
    expectRefusal(await check(petr, username), 'USERNAME_ALREADY_EXISTS')
    expectRefusal(await take(petr, username), 'USERNAME_ALREADY_EXISTS')
  }
  expect((await check(olga, 'takenname')).status).toBe(200)
  expect((await take(olga, 'takenname')).body.username).toBe('takenname')
})

test('a released username is reserved for its former owner for 30 days, then free for anybody and forgotten', async () => {
  const [olga, petr] = [await app.signUp(), await app.signUp()]
  await take(olga, 'Given_Up')
  await take(olga, 'another_one')
  await passTime(app.db, 30 * DAY - 60, 'released_usernames', 'released_at')
  for (const username of ['Given_Up', 'given_up', 'GIVEN_UP']) {
    expectRefusal(await check(petr, username), 'USERNAME_ALREADY_EXISTS')
    expectRefusal(await take(petr, username), 'USERNAME_ALREADY_EXISTS')
    expect((await check(olga, username)).status).toBe(200)
  }
  // No new account gets it either.
  const newcomer = { email: newEmail(), username: 'GIVEN_UP' }
  expect(await insertUser(app.db, newcomer)).toBeUndefined()
  await passTime(app.db, 60, 'released_usernames', 'released_at')
  expect((await check(petr, 'given_up')).status).toBe(200)
  expect((await take(petr, 'given_up')).status).toBe(200)
  expectRefusal(await take(olga, 'given_up'), 'USERNAME_ALREADY_EXISTS')
  await take(olga, 'just_now')
  await removeExpiredAccountRows(app.db)
  const rows = await app.sql`SELECT name FROM released_usernames WHERE user_id = ${olga.id}`
  expect(rows).toEqual([{ name: 'another_one' }])
})

test('a username cannot be taken in the moment of its release', async () => {
  const nameKey = Buffer.alloc(32)
  const [olga, petr] = [await app.signUp(), await app.signUp()]
  await take(olga, 'this_moment')
  const leaving = await app.db.startTransaction().execute()
  await renameUser(leaving, { userId: olga.id, username: 'next_moment', nameKey })
  const coming = { userId: petr.id, username: 'this_moment', nameKey }
  const renaming = app.db.transaction().execute((tx) => renameUser(tx, coming))
  const refusal = renaming.catch((error: unknown) => error)
  await expect.poll(() => lockWaits(app)).toBeGreaterThan(0)
  await leaving.commit().execute()
  expect(await refusal).toMatchObject({ code: 'USERNAME_ALREADY_EXISTS' })
})

test('one of 50 users who race for a username in mixed case gets it', async () => {
  const users = await app.signUps(50)
  const spellings = ['Wanted_Name', 'wanted_name', 'WANTED_NAME', 'wAnTeD_nAmE']
  const answers = await atOnce(
    users.map((user, index) => () => take(user, spellings[index % spellings.length] ?? '')),
  )
  expect(countCodes(answers)).toEqual({ ok: 1, USERNAME_ALREADY_EXISTS: 49 })
  const names = await app.db.selectFrom('users').select('username').execute()
  expect(names.filter(({ username }) => username.toLowerCase() === 'wanted_name')).toHaveLength(1)
})

test.each([
  ['Support', 'USERNAME_ALREADY_EXISTS'],
  ['settings', 'USERNAME_ALREADY_EXISTS'],
  ['adm1n', 'USERNAME_ALREADY_EXISTS'],
  ['olga', 'INVALID_USERNAME'],
  ['ольга1987', 'INVALID_USERNAME'],
  ['o'.repeat(101), 'INVALID_USERNAME'],
] as const)('nobody can take the username %s: %s', async (username, code) => {
  const olga = await app.signUp()
  expectRefusal(await check(olga, username), code)
  expectRefusal(await take(olga, username), code)
})

test('a user who already has a reserved username keeps it, and may change its case', async () => {
  const olga = await app.signUp()
  await app.sql`UPDATE users SET username = 'adm1n_2019' WHERE id = ${olga.id}`
  expect((await check(olga, 'adm1n_2019')).status).toBe(200)
  expect((await take(olga, 'Adm1n_2019')).body.username).toBe('Adm1n_2019')
  expectRefusal(await take(await app.signUp(), 'adm1n_2019'), 'USERNAME_ALREADY_EXISTS')
})

const profile = (username: string) => app.call('GET', `/profiles/${encodeURIComponent(username)}`)

test('a profile is public: its id, its name as its owner spells it, since when it is there, and its counts', async () => {
  const olga = await app.signUp()
  const { id: userId, username } = olga
  const fields = { id: userId, username, created_at: expect.any(Number) }
  const { status, body } = await profile(username.toUpperCase())
  expect([status, body]).toEqual([200, { ...fields, posts_count: 0, replies_count: 0 }])
  const { id } = await app.publish(olga)
  await app.reply(olga, id)
  await app.reply(olga, id)
  const counts = { posts_count: 1, replies_count: 2 }
  await expect.poll(async () => (await profile(username)).body).toEqual({ ...fields, ...counts })
})

test('a former name leads to its owner for 30 days; a name that nobody has is NOT_FOUND', async () => {
  const olga = await app.signUp()
  for (const username of ['First_Name', 'second_name']) await take(olga, username)
  expect((await profile('first_name')).body).toMatchObject({ id: olga.id, username: 'second_name' })
  await passTime(app.db, 30 * DAY, 'released_usernames', 'released_at')
  for (const name of ['first_name', 'nobody_at_all', 'нет', '%']) {
    expectRefusal(await profile(name), 'NOT_FOUND')
  }
})

test('the replies of an author are a public list, of an unknown author empty', async () => {
  const [olga, petr] = [await app.signUp(), await app.signUp()]
  const reply = await app.reply(olga, (await app.publish(petr)).id, 'Отвечаю')
  const idsOf = async (path: string, token?: string) =>
    (await app.call('GET', path, { token })).body.posts.map(({ id }: { id: string }) => id)
  for (const token of [undefined, petr.token]) {
    expect(await idsOf(`/posts/replies?userId=${olga.id}`, token)).toEqual([reply.id])
  }
  for (const id of ['999999999', 'nobody', '0', '9'.repeat(30)]) {
    expect(await idsOf(`/posts?userId=${id}`)).toEqual([])
    expect(await idsOf(`/posts/replies?userId=${id}`)).toEqual([])
  }
})

test('a user may change the username 3 times and then once in 8 hours, sooner gets 429 with Retry-After; changes to the same name are not counted', async () => {
  const strict = await strictApp()
  const olga = await strict.signUp()
  const petr = await strict.signUp()
  for (const username of ['olga_first', 'olga_second', 'Olga_Second']) {
    expect((await take(olga, username, strict)).status).toBe(200)
    expect((await take(olga, username, strict)).status).toBe(200)
    for (const refused of [petr.username, 'admin', 'o', 'ольга']) {
      expect((await take(olga, refused, strict)).status).toBe(400)
    }
  }
  const fourth = await take(olga, 'olga_fourth', strict)
  expectTooMany(fourth, { least: 8 * HOUR - MINUTE, most: 8 * HOUR })
  expect((await take(olga, 'Olga_Second', strict)).status).toBe(200)
  expect((await take(petr, 'petr_first', strict)).status).toBe(200)
  await passLimitTime(strict, 8 * HOUR)
  expect((await take(olga, 'olga_fourth', strict)).status).toBe(200)
})

testPerNode('limits counted in memory, by each node for itself')(
  'a user may check 20 usernames a minute, whatever their IP',
  async () => {
    stopClock()
    // A fifth of the limit: four.
    const app = await strictApp({ rateLimitScale: 0.2 })
    const olga = await app.signUp()
    const petr = await app.signUp()
    const check = ({ token }: TestUser, index: number) => {
      const path = `/users/some_name_${index}/validation`
      return app.call('GET', path, { token, ...clientHeaders(`10.2.0.${index}`) })
    }
    for (let time = 1; time <= 4; time++) expect((await check(olga, time)).status).toBe(200)
    expectTooMany(await check(olga, 5), { most: 15 })
    expect((await check(petr, 5)).status).toBe(200)
  },
)
