import { expect, test } from 'vitest'
import type { TestUser } from '../../testing/client.ts'
import { expectRefusal } from '../../testing/expect-refusal.ts'
import { readQueue, report, signUpModerator } from '../../testing/moderation-calls.ts'
import { appForFile } from '../../testing/test-app.ts'
import { addModerator, removeModerator } from './moderation.service.ts'
import { selectPeople } from './people.repository.ts'

const app = await appForFile()
const moderator = await signUpModerator(app)
const author = await app.signUp()

test('the profile tells moderators alone that they are moderators and how many posts wait', async () => {
  const profile = async ({ token }: TestUser) =>
    (await app.call('GET', '/users/current', { token })).body
  expect(await profile(moderator)).toMatchObject({ isModerator: true, waitingReports: 0 })
  const post = await app.publish(author, 'Ждёт решения')
  for (const reasonId of ['1', '2']) await report(app, moderator, { postId: post.id, reasonId })
  expect(await profile(moderator)).toMatchObject({ waitingReports: 1 })
  expect(Object.keys(await profile(author)).sort()).toEqual(['email', 'id', 'username'])
})

test('to a visitor and to other users the calls of moderators do not exist, whatever they send', async () => {
  for (const token of [undefined, author.token]) {
    const sent = { body: { verdict: 'explode' }, ...(token && { token }) }
    expectRefusal(await app.call('POST', '/moderation/posts/1/decision', sent), 'NOT_FOUND')
    expectRefusal(
      await app.call('GET', '/moderation/queue?x=1', token ? { token } : {}),
      'NOT_FOUND',
    )
  }
  expectRefusal(await app.call('GET', '/moderation/queue', { token: 'stale' }), 'UNAUTHORIZED')
  const sent = { token: moderator.token, body: { verdict: 'explode' } }
  expectRefusal(await app.call('POST', '/moderation/posts/1/decision', sent), 'INVALID_REQUEST')
})

test('an address that merely compares equal to a moderator’s is none: only their own is, in any case of letters', async () => {
  const email = 'kira@example.org'
  const found = async (known: string) => {
    const user = await app.signIn(known)
    const people = await selectPeople(app.db, user.id)
    const { status } = await app.call('GET', '/moderation/queue', { token: user.token })
    const { body } = await app.call('GET', '/users/current', { token: user.token })
    expect(body.isModerator ?? false).toBe(status === 200)
    expect(people[0]?.is_moderator).toBe(status === 200)
    await app.db.deleteFrom('users').where('id', '=', user.id).execute()
    return status
  }
  await addModerator(app.db, { email, actor: 'masha' })
  // The second begins with the sign for kelvin, which is a small k in lower case.
  for (const other of ['ｋira@example.org', '\u212aira@example.org'])
    expect(await found(other)).toBe(404)
  expect(await found('Kira@Example.org')).toBe(200)
  expect(await removeModerator(app.db, { email: 'ｋira@example.org', actor: 'masha' })).toBe(false)
  expect(await removeModerator(app.db, { email: 'KIRA@example.org', actor: 'masha' })).toBe(true)
})

test('a block ends a moderator’s powers at once, and so does a dismissal: they see no queue, lift no block and block nobody', async () => {
  const blocked = await signUpModerator(app)
  await readQueue(app, blocked)
  const path = (id: string) => `/moderation/users/${id}/block`
  const body = { reason: 'Злоупотребление', days: null }
  const by = { token: moderator.token, body }
  expect((await app.call('PUT', path(blocked.id), by)).status).toBe(204)
  const { token } = await app.signIn(blocked.email)
  expectRefusal(await app.call('GET', '/moderation/queue', { token }), 'NOT_FOUND')
  expectRefusal(await app.call('DELETE', path(blocked.id), { token }), 'NOT_FOUND')
  expectRefusal(await app.call('PUT', path(moderator.id), { token, body }), 'NOT_FOUND')
  expect((await app.call('GET', '/users/current', { token })).body.isModerator).toBeUndefined()
  await app.call('DELETE', path(blocked.id), { token: moderator.token })
  expect((await app.call('GET', '/moderation/queue', { token })).status).toBe(200)
  await app.db.deleteFrom('moderators').where('email', '=', blocked.email).execute()
  expectRefusal(await app.call('GET', '/moderation/queue', { token }), 'NOT_FOUND')
})
