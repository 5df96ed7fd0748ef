import { expect, test } from 'vitest'
import { newEmail } from '../../testing/account-fixture.ts'
import { atOnce, signUps } from '../../testing/at-once.ts'
import type { TestUser } from '../../testing/client.ts'
import { lockWaits } from '../../testing/databases.ts'
import { expectRefusal } from '../../testing/expect-refusal.ts'
import { passReleaseTime } from '../../testing/passing-time.ts'
import { countCodes } from '../../testing/sign-in-calls.ts'
import { appForFile } from '../../testing/test-app.ts'
import { insertUser, removeExpiredAccountRows } from './account.repository.ts'
import { renameUser } from './account.service.ts'

const DAY = 86_400

const app = await appForFile()

function check({ token }: TestUser, username: string) {
  return app.call('GET', `/users/${encodeURIComponent(username)}/validation`, { token })
}

function take({ token }: TestUser, username: string) {
  return app.call('PATCH', '/users/current/profile', { token, body: { username } })
}

test('a valid free username is available, and can be taken; so can the longest, of 32 characters', async () => {
  const olga = await app.signUp()
  const { body } = await check(olga, 'Olga_1987')
  expect(body).toEqual({ username: 'Olga_1987', available: true })
  const taken = await take(olga, 'Olga_1987')
  const { id, email } = olga
  expect([taken.status, taken.body]).toEqual([200, { id, username: 'Olga_1987', email }])
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

test('a released username is reserved for its former owner for 30 days, and free for anybody after them', async () => {
  const [olga, petr] = [await app.signUp(), await app.signUp()]
  await take(olga, 'Given_Up')
  await take(olga, 'another_one')
  await passReleaseTime(app, 30 * DAY - 60)
  for (const username of ['Given_Up', 'given_up', 'GIVEN_UP']) {
    expectRefusal(await check(petr, username), 'USERNAME_ALREADY_EXISTS')
    expectRefusal(await take(petr, username), 'USERNAME_ALREADY_EXISTS')
    expect((await check(olga, username)).status).toBe(200)
  }
  await passReleaseTime(app, 60)
  expect((await check(petr, 'given_up')).status).toBe(200)
  expect((await take(petr, 'given_up')).status).toBe(200)
  expectRefusal(await take(olga, 'given_up'), 'USERNAME_ALREADY_EXISTS')
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

test('a new account gets no username that is reserved for somebody', async () => {
  const olga = await app.signUp()
  await take(olga, 'user_1234567')
  await take(olga, 'settled_here')
  const newcomer = { email: newEmail(), username: 'USER_1234567' }
  expect(await insertUser(app.db, newcomer)).toBeUndefined()
  await passReleaseTime(app, 30 * DAY)
  expect(await insertUser(app.db, newcomer)).toMatchObject(newcomer)
})

test('released usernames are removed once they are free for anybody', async () => {
  const olga = await app.signUp()
  await take(olga, 'long_ago')
  await take(olga, 'lately')
  await passReleaseTime(app, 30 * DAY)
  await take(olga, 'just_now')
  await removeExpiredAccountRows(app.db)
  const rows = app.db.selectFrom('released_usernames').select('name').where('user_id', '=', olga.id)
  expect(await rows.execute()).toEqual([{ name: 'lately' }])
})

test('one of 50 users who race for a username in mixed case gets it', async () => {
  const users = await signUps(app, 50)
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
] as const)('nobody can take the username %s: %s', async (username, code) => {
  const olga = await app.signUp()
  expectRefusal(await check(olga, username), code)
  expectRefusal(await take(olga, username), code)
})

test('a user who already has a reserved username keeps it, and may change its case', async () => {
  const olga = await app.signUp()
  const had = { username: 'adm1n_2019' }
  await app.db.updateTable('users').set(had).where('id', '=', olga.id).execute()
  expect((await check(olga, 'adm1n_2019')).status).toBe(200)
  expect((await take(olga, 'Adm1n_2019')).body.username).toBe('Adm1n_2019')
  expectRefusal(await take(await app.signUp(), 'adm1n_2019'), 'USERNAME_ALREADY_EXISTS')
})
