import { afterAll, beforeAll, expect, test } from 'vitest'
import { atOnce, signUps } from '../testing/at-once.ts'
import type { TestUser } from '../testing/client.ts'
import { expectRefusal } from '../testing/expect-refusal.ts'
import { tally } from '../testing/sign-in.ts'
import { startTestApp, type TestApp } from '../testing/test-app.ts'

let app: TestApp
beforeAll(async () => {
  app = await startTestApp()
})
afterAll(() => app.close())

function check({ token }: TestUser, username: string) {
  return app.call('GET', `/users/${encodeURIComponent(username)}/validation`, { token })
}

function take({ token }: TestUser, username: string) {
  return app.call('PATCH', '/users/current/profile', { token, body: { username } })
}

test('a valid free username is available, and can be taken', async () => {
  const olga = await app.signUp()
  const { status, body } = await check(olga, 'Olga_1987')
  expect([status, body]).toEqual([200, { username: 'Olga_1987', available: true }])
  const taken = await take(olga, 'Olga_1987')
  const { id, email } = olga
  expect([taken.status, taken.body]).toEqual([200, { id, username: 'Olga_1987', email }])
  const { body: account } = await app.call('GET', '/users/current', { token: olga.token })
  expect(account.username).toBe('Olga_1987')
})

test('a taken username is USERNAME_ALREADY_EXISTS, in any case of its letters', async () => {
  const [olga, petr] = [await app.signUp(), await app.signUp()]
  await take(olga, 'TakenName')
  for (const username of ['TakenName', 'takenname', 'TAKENNAME']) {
    expectRefusal(await check(petr, username), 'USERNAME_ALREADY_EXISTS')
    expectRefusal(await take(petr, username), 'USERNAME_ALREADY_EXISTS')
  }
})

test('one’s own username stays free to oneself, also in other letters', async () => {
  const olga = await app.signUp()
  await take(olga, 'Own_Name')
  expect((await check(olga, 'own_name')).status).toBe(200)
  expect((await take(olga, 'own_name')).body.username).toBe('own_name')
})

test('a username given up is free again', async () => {
  const [olga, petr] = [await app.signUp(), await app.signUp()]
  await take(olga, 'given_up')
  await take(olga, 'another_one')
  expect((await take(petr, 'given_up')).status).toBe(200)
})

test('50 users racing for one username in mixed case: one gets it', async () => {
  const users = await signUps(app, 50)
  const spellings = ['Wanted_Name', 'wanted_name', 'WANTED_NAME', 'wAnTeD_nAmE']
  const answers = await atOnce(
    users.map((user, index) => () => take(user, spellings[index % spellings.length] ?? '')),
  )
  expect(tally(answers)).toEqual({ ok: 1, USERNAME_ALREADY_EXISTS: 49 })
  const names = await app.db.selectFrom('users').select('username').execute()
  expect(names.filter(({ username }) => username.toLowerCase() === 'wanted_name')).toHaveLength(1)
})

test.each([
  'admin',
  'Support',
  'MODERATOR',
  'settings',
  'posts',
  'liked',
  'replies',
  'logins',
  'registrations',
  'sessions',
  'users',
  'current',
  'vslukh',
])('the reserved word %s is USERNAME_ALREADY_EXISTS', async (word) => {
  const olga = await app.signUp()
  expectRefusal(await check(olga, word), 'USERNAME_ALREADY_EXISTS')
  expectRefusal(await take(olga, word), 'USERNAME_ALREADY_EXISTS')
})

test.each([
  ['shorter than 5', 'olga'],
  ['longer than 32', 'o'.repeat(33)],
  ['with a letter that is not Latin', 'ольга1987'],
  ['with a Latin look-alike', 'аdministrator'],
  ['with a hyphen', 'olga-1987'],
  ['with a space', 'olga 1987'],
  ['with a line feed at the end', 'olga1987\n'],
  ['with KELVIN SIGN', 'mar\u212aus'],
])('a username %s is INVALID_USERNAME', async (_what, username) => {
  const olga = await app.signUp()
  expectRefusal(await check(olga, username), 'INVALID_USERNAME')
  expectRefusal(await take(olga, username), 'INVALID_USERNAME')
})

test.each(['12345', 'o'.repeat(32), '_____'])('%s is within the bounds', async (username) => {
  expect((await take(await app.signUp(), username)).status).toBe(200)
})

test('a profile with no username, an unknown field or a number for a name is INVALID_REQUEST', async () => {
  const { token } = await app.signUp()
  for (const body of [{}, { username: 'olga_1', email: 'x@example.org' }, { username: 12345 }]) {
    const answer = await app.call('PATCH', '/users/current/profile', { token, body })
    expectRefusal(answer, 'INVALID_REQUEST')
  }
})
