import { afterAll, beforeAll, expect, test } from 'vitest'
import { startTestApp, type TestApp } from '../testing/test-app.ts'

let app: TestApp
beforeAll(async () => {
  app = await startTestApp()
})
afterAll(() => app.close())

test('a published post is the first of the wall', async () => {
  const olga = await app.signUp()
  const post = await app.publish(olga, '  Первая запись  ')
  expect(post).toMatchObject({ text: 'Первая запись', owner: { username: olga.username } })
  const { status, body } = await app.call('GET', '/posts')
  expect(status).toBe(200)
  expect(body.posts[0]).toEqual(post)
  expect(body.total).toBe(1)
})

test('smoke', async () => {
  const olga = await app.signUp()
  const petr = await app.signUp()
  const post = await app.publish(olga)
  const r = await app.reply(petr, post.id)
  expect((await app.call('POST', `/posts/${r.id}/likes`, { token: olga.token })).body).toEqual({
    likes_count: 1,
  })
  const liked = await app.call('GET', '/posts?filter=liked', { token: olga.token })
  expect(liked.body.posts[0].actions.replied_post.id).toBe(post.id)
  expect((await app.call('GET', `/posts/${post.id}/replies`)).body.total).toBe(1)
  expect((await app.call('GET', `/posts/9999/replies`)).status).toBe(404)
  expect((await app.call('GET', `/posts/replies`, { token: petr.token })).body.total).toBe(1)
  expect(
    (await app.call('PATCH', `/posts/${post.id}`, { token: olga.token, body: { text: 'иначе' } }))
      .status,
  ).toBe(200)
  expect((await app.call('DELETE', `/posts/${post.id}`, { token: olga.token })).status).toBe(204)
  expect((await app.call('GET', `/posts/${r.id}`)).body.actions.replied_post).toBe(null)
  expect((await app.call('DELETE', `/posts/${r.id}`, { token: petr.token })).status).toBe(204)
  const refresh = await app.call('PATCH', '/sessions/current', {
    body: { clientToken: olga.clientToken },
    headers: { cookie: olga.cookie },
  })
  expect(refresh.status).toBe(200)
  expect((await app.call('GET', '/sessions', { token: olga.token })).body.sessions.length).toBe(1)
  expect((await app.call('GET', '/reports/reasons')).body.reasons.length).toBe(8)
  expect((await app.call('GET', '/users/admin/validation', { token: olga.token })).body.code).toBe(
    'USERNAME_ALREADY_EXISTS',
  )
  expect((await app.call('GET', '/nope')).body.code).toBe('NOT_FOUND')
  expect((await app.call('GET', '/posts?limit=1e6')).body.code).toBe('INVALID_REQUEST')
  expect((await app.call('GET', '/posts?page=1e9')).body.posts).toEqual([])
})
