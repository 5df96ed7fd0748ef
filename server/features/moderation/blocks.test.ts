import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { leave } from '../../testing/account-deletion-calls.ts'
import type { TestUser } from '../../testing/client.ts'
import { expectRefusal } from '../../testing/expect-refusal.ts'
import { decide, report, signUpModerator } from '../../testing/moderation-calls.ts'
import { appForFile } from '../../testing/test-app.ts'

const app = await appForFile({ config: { contactEmail: 'wall@example.org' } })
const moderator = await signUpModerator(app)

const block = (id: string, days: number | null) =>
  app.call('PUT', `/moderation/users/${id}/block`, {
    token: moderator.token,
    body: { reason: 'Спам', days },
  })
const unblock = (id: string) =>
  app.call('DELETE', `/moderation/users/${id}/block`, { token: moderator.token })
const publish = ({ token }: TestUser) =>
  app.call('POST', '/posts', { token, body: { text: 'Я вернулся' } })

test('a block closes every session at once; after signing in again nothing can be published, and everything else can be done', async () => {
  const user = await app.signUp()
  const post = await app.publish(user)
  const other = await app.publish(moderator)
  await app.call('POST', `/posts/${other.id}/likes`, { token: user.token })
  expect((await block(user.id, 7)).status).toBe(204)
  expectRefusal(await publish(user), 'UNAUTHORIZED')
  const { token } = await app.signIn(user.email)
  for (const [method, path, body] of [
    ['POST', '/posts', { text: 'Снова' }],
    ['POST', `/posts/${other.id}/replies`, { text: 'Снова' }],
    ['PATCH', `/posts/${post.id}`, { text: 'Снова' }],
    ['POST', `/posts/${other.id}/likes`, undefined],
    ['POST', `/posts/${other.id}/reports?reason_id=1`, undefined],
    ['PATCH', '/users/current/profile', { username: 'another_name' }],
  ] as const) {
    expectRefusal(await app.call(method, path, { token, body }), 'BLOCKED')
  }
  for (const [method, path] of [
    ['GET', '/posts'],
    ['GET', '/posts?filter=liked'],
    ['GET', '/users/current'],
    ['DELETE', `/posts/${other.id}/likes`],
    ['DELETE', `/posts/${post.id}`],
    ['DELETE', '/sessions/current'],
  ] as const) {
    expect((await app.call(method, path, { token })).status, path).toBeLessThan(300)
  }
})

test('a blocked user can save their data and delete the account', async () => {
  const user = await app.signUp()
  await block(user.id, null)
  const again = await app.signIn(user.email)
  const { status, body } = await app.call('POST', '/users/current/downloads', {
    token: again.token,
  })
  expect(status).toBe(201)
  expect((await fetch(app.url + body.path)).status).toBe(200)
  expect((await leave(app, again)).status).toBe(200)
  expectRefusal(await app.call('GET', '/users/current', { token: again.token }), 'UNAUTHORIZED')
})

test('the refusal names the reason, the end and the contact of a block, and the profile shows them before', async () => {
  const user = await app.signUp()
  await block(user.id, null)
  const again = await app.signIn(user.email)
  expect((await publish(again)).body.message).toBe(
    'Вы можете только читать. Причина: Спам. Вопросы: wall@example.org',
  )
  await block(user.id, 1)
  const { token } = await app.signIn(user.email)
  const profile = async () => (await app.call('GET', '/users/current', { token })).body
  expect(await profile()).toMatchObject({ block: { reason: 'Спам', until: expect.any(Number) } })
  const { body } = await publish({ ...user, token })
  await unblock(user.id)
  expect(Object.keys(await profile()).sort()).toEqual(['email', 'id', 'username'])
  expect(body.message).toMatch(
    /^До \d+\u00a0[а-я]+\u00a0\d{4} вы можете только читать\. Причина: Спам\./,
  )
})

test('a block that was taken back or is over refuses nothing', async () => {
  const user = await app.signUp()
  await block(user.id, null)
  const again = await app.signIn(user.email)
  expectRefusal(await publish(again), 'BLOCKED')
  expect((await unblock(user.id)).status).toBe(204)
  expect((await publish(again)).status).toBe(201)
  expect((await unblock(user.id)).status).toBe(204)
  await block(user.id, 1)
  await sql`UPDATE blocks SET until = now() - interval '1 second' WHERE user_id = ${user.id}`.execute(
    app.db,
  )
  expect((await publish(await app.signIn(user.email))).status).toBe(201)
})

test('an unknown user is USER_NOT_FOUND, and a block without a reason INVALID_REQUEST', async () => {
  for (const id of ['999999', 'abc', '9'.repeat(30)]) {
    expectRefusal(await block(id, 1), 'USER_NOT_FOUND')
    expectRefusal(await unblock(id), 'USER_NOT_FOUND')
  }
  const sent = { token: moderator.token, body: { reason: '', days: 1 } }
  expectRefusal(await app.call('PUT', '/moderation/users/1/block', sent), 'INVALID_REQUEST')
})

test('a removal can block the author, in place of an earlier block', async () => {
  const user = await app.signUp()
  const { id: postId } = await app.publish(user)
  await report(app, moderator, { postId })
  await block(user.id, 1)
  await decide(app, moderator, { postId, verdict: 'remove', block: { days: null } })
  const blocks = app.db.selectFrom('blocks').select(['reason', 'until', 'blocked_by'])
  expect(await blocks.where('user_id', '=', user.id).execute()).toEqual([
    { reason: 'Спам или реклама', until: null, blocked_by: moderator.email },
  ])
})
