import { afterAll, beforeAll, expect, test } from 'vitest'
import type { TestUser } from '../testing/client.ts'
import { expectRefusal } from '../testing/expect-refusal.ts'
import { readQueue, signUpModerator } from '../testing/moderation-calls.ts'
import { startTestApp, type TestApp } from '../testing/test-app.ts'

let app: TestApp
let moderator: TestUser
let author: TestUser
beforeAll(async () => {
  app = await startTestApp()
  moderator = await signUpModerator(app)
  author = await app.signUp()
})
afterAll(() => app.close())

test('the profile says to a moderator that they are one, and nothing to others', async () => {
  const profile = async ({ token }: TestUser) =>
    (await app.call('GET', '/users/current', { token })).body
  expect(await profile(moderator)).toMatchObject({ isModerator: true })
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

test('who is no longer a moderator is refused on the next call', async () => {
  const former = await signUpModerator(app)
  await readQueue(app, former)
  await app.db.deleteFrom('moderators').where('email', '=', former.email).execute()
  expectRefusal(await app.call('GET', '/moderation/queue', { token: former.token }), 'NOT_FOUND')
})
