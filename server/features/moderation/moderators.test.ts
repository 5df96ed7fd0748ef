import { expect, test } from 'vitest'
import { callOf } from '../../access.fixture.ts'
import { deriveKey } from '../../kernel/config/app-secret.ts'
import { leave } from '../../testing/calls/account-deletion-calls.ts'
import { createAccountFixture } from '../../testing/calls/account-fixture.ts'
import { report, signUpModerator } from '../../testing/calls/moderation-calls.ts'
import type { TestUser } from '../../testing/http/client.ts'
import { allEndpoints } from '../../testing/http/endpoints.ts'
import { expectRefusal } from '../../testing/http/expect-refusal.ts'
import { appForFile, SECRET } from '../../testing/test-app.ts'
import { eraseNow } from '../account-deletion/account-deletion.service.ts'
import { selectSiteState } from '../site-state/site-state.repository.ts'
import { addModerator, removeModerator } from './moderators.repository.ts'
import { selectPeople } from './people.repository.ts'

const app = await appForFile({ config: { contactEmail: 'wall@example.org' } })
const moderator = await signUpModerator(app)

const change = (method: 'PUT' | 'DELETE', id: string, body?: object, { token } = moderator) =>
  app.call(method, `/moderation/users/${id}/block`, { token, body })
const block = (id: string, days: number | null, reason = 'Спам') =>
  change('PUT', id, { reason, days })
const unblock = (id: string) => change('DELETE', id)
const publish = ({ token }: TestUser) =>
  app.call('POST', '/posts', { token, body: { text: 'Я вернулся' } })

test('a block closes every session at once; after signing in again nothing can be published, and everything else can be done', async () => {
  const fixture = await createAccountFixture(app)
  const { owner: user, post } = fixture
  const other = await app.publish(moderator)
  await app.call('POST', `/posts/${other.id}/likes`, { token: user.token })
  expect((await block(user.id, 7)).status).toBe(204)
  expectRefusal(await publish(user), 'UNAUTHORIZED')
  const again = await app.signIn(user.email)
  const { token } = again
  const publishing = [...(await allEndpoints())].filter(([, { publishes }]) => publishes)
  expect(publishing.length).toBeGreaterThan(5)
  for (const [name] of publishing) {
    expectRefusal(await app.call(...callOf(name, { ...fixture, owner: again })), 'BLOCKED')
  }
  for (const [method, path] of [
    ['GET', '/posts?filter=liked'],
    ['DELETE', `/posts/${other.id}/likes`],
    ['DELETE', `/posts/${post.id}`],
  ] as const) {
    expect((await app.call(method, path, { token })).status, path).toBeLessThan(300)
  }
  const { body } = await app.call('POST', '/users/current/downloads', { token })
  expect((await fetch(app.url + body.path)).status).toBe(200)
  expect((await leave(app, again)).status).toBe(200)
})

test('the refusal and the profile name the reason and the end of a block, until it is lifted or over', async () => {
  const { id, email } = await app.signUp()
  expectRefusal(await block(id, 1, ''), 'INVALID_REQUEST')
  expectRefusal(await unblock('999999'), 'USER_NOT_FOUND')
  await block(id, null)
  expect((await publish(await app.signIn(email))).body.message).toBe(
    'Вы можете только читать. Причина: Спам. Вопросы: wall@example.org',
  )
  await block(id, 1)
  const user = await app.signIn(email)
  expect(user).toMatchObject({ block: { reason: 'Спам', until: expect.any(Number) } })
  const untilThen = /^До \d+\u00a0[а-я]+\u00a0\d{4} вы можете только читать\. Причина: Спам\./
  expect((await publish(user)).body.message).toMatch(untilThen)
  for (const _ of [1, 2]) expect((await unblock(id)).status).toBe(204)
  const profile = await app.read('/users/current', user)
  expect(Object.keys(profile).sort()).toEqual(['email', 'id', 'username'])
  expect((await publish(user)).status).toBe(201)
  await block(id, 1)
  await app.sql`UPDATE blocks SET until = now() - interval '1 second' WHERE user_id = ${id}`
  expect((await publish(await app.signIn(email))).status).toBe(201)
})

test('a block covers the mailbox: its other accounts and those registered later under another spelling, until it is lifted', async () => {
  const user = await app.signIn('liar+1@example.org')
  const twin = await app.signIn('liar@example.org')
  const other = await app.signIn('liar.x+1@example.org')
  await block(user.id, 7)
  expectRefusal(await publish(twin), 'UNAUTHORIZED')
  const newcomer = await app.signIn('LIAR+2@example.org')
  for (const again of [newcomer, await app.signIn(twin.email)]) {
    expect((await publish(again)).body.message).toContain('Причина: Спам.')
  }
  expect((await publish(other)).status).toBe(201)
  await unblock(user.id)
  expect((await publish(newcomer)).status).toBe(201)
  expect((await publish(await app.signIn('liar+3@example.org'))).status).toBe(201)
})

test('a block outlives the account while it is in force, and leaves no e-mail behind', async () => {
  const nameKey = deriveKey(SECRET, 'usernames')
  const eraseBlocked = async (email: string, days: number | null) => {
    const { id: userId } = await app.signIn(email)
    await block(userId, days)
    await eraseNow(app.db, { userId, nameKey, actor: 'masha', publishChange: async () => {} })
    return app.signIn(email)
  }
  expectRefusal(await publish(await eraseBlocked('eraser@gmail.com', null)), 'BLOCKED')
  expectRefusal(await publish(await app.signIn('era.ser+1@googlemail.com')), 'BLOCKED')
  expectRefusal(await publish(await eraseBlocked('other@example.org', 1)), 'BLOCKED')
  await app.sql`UPDATE blocks SET until = now() WHERE until IS NOT NULL`
  await app.sql`UPDATE blocked_mailboxes SET until = now() WHERE until IS NOT NULL`
  expect((await publish(await app.signIn('other+1@example.org'))).status).toBe(201)
})

const author = await app.signUp()
const openQueue = (token?: string, query = '') =>
  app.call('GET', `/moderation/queue${query}`, { ...(token && { token }) })

test('the profile tells moderators alone that they are moderators and how many posts wait', async () => {
  const profileOf = (user: typeof author) => app.read('/users/current', user)
  expect(await profileOf(moderator)).toMatchObject({ isModerator: true, waitingReports: 0 })
  const { id: postId } = await app.publish(author, 'Ждёт решения')
  for (const reasonId of ['1', '2']) await report(app, moderator, { postId, reasonId })
  expect(await profileOf(moderator)).toMatchObject({ waitingReports: 1 })
  expect(Object.keys(await profileOf(author)).sort()).toEqual(['email', 'id', 'username'])
})

test('to a visitor and to other users the calls of moderators do not exist, whatever they send', async () => {
  const explode = (token?: string) =>
    app.call('POST', '/moderation/posts/1/decision', { token, body: { verdict: 'explode' } })
  for (const token of [undefined, author.token]) {
    expectRefusal(await explode(token), 'NOT_FOUND')
    expectRefusal(await openQueue(token, '?x=1'), 'NOT_FOUND')
  }
  expectRefusal(await openQueue('stale'), 'UNAUTHORIZED')
  expectRefusal(await explode(moderator.token), 'INVALID_REQUEST')
})

test('an address that merely compares equal to a moderator’s is none: only their own is, in any case of letters', async () => {
  const email = 'kira@example.org'
  const found = async (known: string) => {
    const user = await app.signIn(known)
    const [person] = await selectPeople(app.db, user.id)
    const { status } = await openQueue(user.token)
    const { isModerator = false } = await app.read('/users/current', user)
    expect([isModerator, person?.is_moderator]).toEqual([status === 200, status === 200])
    await app.sql`DELETE FROM users WHERE id = ${user.id}`
    return status
  }
  await addModerator(app.db, { email, actor: 'masha', isMarked: true })
  // The second begins with the sign for kelvin, which is a small k in lower case.
  expect(await found('ｋira@example.org')).toBe(404)
  expect(await found('\u212aira@example.org')).toBe(404)
  expect(await found('Kira@Example.org')).toBe(200)
  expect(await removeModerator(app.db, { email: 'ｋira@example.org', actor: 'masha' })).toBe(false)
  expect(await removeModerator(app.db, { email: 'KIRA@example.org', actor: 'masha' })).toBe(true)
})

test('the wall marks the names of moderators, but of those who are unmarked, blocked or removed', async () => {
  const [marked, unmarked] = [await app.signUp(), await app.signUp()]
  for (const { email, id } of [marked, unmarked]) {
    await addModerator(app.db, { email, actor: 'masha', isMarked: id === marked.id })
  }
  const marks = async () => (await selectSiteState(app.db)).moderators
  expect(await marks()).toEqual([marked.id])
  expect((await block(marked.id, null)).status).toBe(204)
  expect(await marks()).toBeUndefined()
  await unblock(marked.id)
  expect(await marks()).toEqual([marked.id])
  await removeModerator(app.db, { email: marked.email, actor: 'masha' })
  expect(await marks()).toBeUndefined()
  await removeModerator(app.db, { email: unmarked.email, actor: 'masha' })
})

test('a block ends a moderator’s powers at once, and so does a dismissal: they see no queue, lift no block and block nobody', async () => {
  const blocked = await signUpModerator(app)
  expect((await openQueue(blocked.token)).status).toBe(200)
  expect((await block(blocked.id, null)).status).toBe(204)
  const again = await app.signIn(blocked.email)
  expect(again).not.toHaveProperty('isModerator')
  expectRefusal(await openQueue(again.token), 'NOT_FOUND')
  expectRefusal(await change('DELETE', blocked.id, undefined, again), 'NOT_FOUND')
  expectRefusal(await change('PUT', moderator.id, { reason: 'Спам', days: 1 }, again), 'NOT_FOUND')
  await unblock(blocked.id)
  expect((await openQueue(again.token)).status).toBe(200)
  await app.sql`DELETE FROM moderators WHERE email = ${blocked.email}`
  expectRefusal(await openQueue(again.token), 'NOT_FOUND')
})
