import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { deriveKey } from '../../kernel/config/app-secret.ts'
import { leave } from '../../testing/account-deletion-calls.ts'
import type { TestUser } from '../../testing/client.ts'
import { expectRefusal } from '../../testing/expect-refusal.ts'
import { decide, report, signUpModerator } from '../../testing/moderation-calls.ts'
import { appForFile, SECRET } from '../../testing/test-app.ts'
import { eraseNow } from '../account-deletion/account-deletion.service.ts'

const app = await appForFile({ config: { contactEmail: 'wall@example.org' } })
const moderator = await signUpModerator(app)

const block = (id: string, days: number | null, reason = 'Спам') =>
  app.call('PUT', `/moderation/users/${id}/block`, {
    token: moderator.token,
    body: { reason, days },
  })
const unblock = (id: string) =>
  app.call('DELETE', `/moderation/users/${id}/block`, { token: moderator.token })
const publish = ({ token }: Pick<TestUser, 'token'>) =>
  app.call('POST', '/posts', { token, body: { text: 'Я вернулся' } })

test('a block closes every session at once; after signing in again nothing can be published, and everything else can be done', async () => {
  const user = await app.signUp()
  const post = await app.publish(user)
  const other = await app.publish(moderator)
  await app.call('POST', `/posts/${other.id}/likes`, { token: user.token })
  expect((await block(user.id, 7)).status).toBe(204)
  expectRefusal(await publish(user), 'UNAUTHORIZED')
  const again = await app.signIn(user.email)
  const { token } = again
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
  ] as const) {
    expect((await app.call(method, path, { token })).status, path).toBeLessThan(300)
  }
  const { body } = await app.call('POST', '/users/current/downloads', { token })
  expect((await fetch(app.url + body.path)).status).toBe(200)
  expect((await leave(app, again)).status).toBe(200)
})

test('the refusal names the reason, the end and the contact of a block, and the profile shows them before', async () => {
  const user = await app.signUp()
  await block(user.id, null)
  expect((await publish(await app.signIn(user.email))).body.message).toBe(
    'Вы можете только читать. Причина: Спам. Вопросы: wall@example.org',
  )
  await block(user.id, 1)
  const { token } = await app.signIn(user.email)
  const profile = async () => (await app.call('GET', '/users/current', { token })).body
  expect(await profile()).toMatchObject({ block: { reason: 'Спам', until: expect.any(Number) } })
  const { body } = await publish({ token })
  expect(body.message).toMatch(
    /^До \d+\u00a0[а-я]+\u00a0\d{4} вы можете только читать\. Причина: Спам\./,
  )
  await unblock(user.id)
  expect(Object.keys(await profile()).sort()).toEqual(['email', 'id', 'username'])
})

test('a block that was taken back or is over refuses nothing', async () => {
  const user = await app.signUp()
  await block(user.id, null)
  const again = await app.signIn(user.email)
  expectRefusal(await publish(again), 'BLOCKED')
  for (const _ of [1, 2]) expect((await unblock(user.id)).status).toBe(204)
  expect((await publish(again)).status).toBe(201)
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
  expectRefusal(await block('1', 1, ''), 'INVALID_REQUEST')
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

test('a block covers the mailbox: its other accounts and those registered later under another spelling, until it is lifted', async () => {
  const [user, twin, other] = [
    await app.signIn('liar+1@example.org'),
    await app.signIn('liar@example.org'),
    await app.signIn('liar.x+1@example.org'),
  ]
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
  const back = await eraseBlocked('eraser@gmail.com', null)
  expectRefusal(await publish(back), 'BLOCKED')
  expectRefusal(await publish(await app.signIn('era.ser+1@googlemail.com')), 'BLOCKED')
  const freed = await eraseBlocked('other@example.org', 1)
  expectRefusal(await publish(freed), 'BLOCKED')
  for (const table of ['blocks', 'blocked_mailboxes']) {
    await sql`UPDATE ${sql.table(table)} SET until = now() WHERE until IS NOT NULL`.execute(app.db)
  }
  expect((await publish(await app.signIn('other+1@example.org'))).status).toBe(201)
})
