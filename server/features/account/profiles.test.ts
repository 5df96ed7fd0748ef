import { expect, test } from 'vitest'
import { expectRefusal } from '../../testing/expect-refusal.ts'
import { passReleaseTime } from '../../testing/passing-time.ts'
import { appForFile } from '../../testing/test-app.ts'

const DAY = 86_400

const app = await appForFile()

const profile = (username: string) => app.call('GET', `/profiles/${encodeURIComponent(username)}`)

test('a profile is public: its id, its name as its owner spells it, since when it is there, and its counts', async () => {
  const olga = await app.signUp()
  const { username } = (await app.call('GET', '/users/current', { token: olga.token })).body
  const fields = { id: olga.id, username, created_at: expect.any(Number) }
  const { status, body } = await profile(username.toUpperCase())
  expect([status, body]).toEqual([200, { ...fields, posts_count: 0, replies_count: 0 }])
  const { id } = await app.publish(olga)
  await app.reply(olga, id)
  await app.reply(olga, id)
  const counts = { posts_count: 1, replies_count: 2 }
  await expect.poll(async () => (await profile(username)).body).toEqual({ ...fields, ...counts })
})

test('a former name leads to its owner for 30 days; a name that nobody has is AUTHOR_NOT_FOUND', async () => {
  const olga = await app.signUp()
  for (const username of ['First_Name', 'second_name']) {
    await app.call('PATCH', '/users/current/profile', { token: olga.token, body: { username } })
  }
  expect((await profile('first_name')).body).toMatchObject({ id: olga.id, username: 'second_name' })
  await passReleaseTime(app, 30 * DAY)
  for (const name of ['first_name', 'nobody_at_all', 'нет', '%']) {
    expectRefusal(await profile(name), 'AUTHOR_NOT_FOUND')
  }
})

test('an author’s posts and replies are two public lists, of an unknown author empty, and the replies without an author are the viewer’s own', async () => {
  const [olga, petr] = [await app.signUp(), await app.signUp()]
  const post = await app.publish(petr)
  const reply = await app.reply(olga, post.id, 'Отвечаю')
  const own = await app.publish(olga)
  const idsOf = async (path: string, token?: string) =>
    (await app.call('GET', path, { token })).body.posts.map(({ id }: { id: string }) => id)
  expect(await idsOf(`/posts?userId=${olga.id}`)).toEqual([own.id])
  expect(await idsOf(`/posts/replies?userId=${olga.id}`)).toEqual([reply.id])
  expect(await idsOf(`/posts/replies?userId=${olga.id}`, petr.token)).toEqual([reply.id])
  expect(await idsOf('/posts/replies', olga.token)).toEqual([reply.id])
  expect(await idsOf('/posts/replies', petr.token)).toEqual([])
  for (const id of ['999999999', 'nobody', '0', '9'.repeat(30)]) {
    expect(await idsOf(`/posts?userId=${id}`)).toEqual([])
    expect(await idsOf(`/posts/replies?userId=${id}`)).toEqual([])
  }
  expectRefusal(await app.call('GET', '/posts/replies'), 'UNAUTHORIZED')
})
