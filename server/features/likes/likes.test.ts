import { afterAll, expect, test } from 'vitest'
import type { Post } from '../../../contract/posts.ts'
import { atOnce, signUps } from '../../testing/at-once.ts'
import type { TestUser } from '../../testing/client.ts'
import { expectRefusal } from '../../testing/expect-refusal.ts'
import { appForTest, startTestApp, testPerNode } from '../../testing/test-app.ts'
import { findCounterDifferences } from '../posts/counters.task.ts'

const app = await startTestApp()
const olga = await app.signUp()
const petr = await app.signUp()
afterAll(async () => {
  const differences = await findCounterDifferences(app.db)
  await app.close()
  expect(differences).toEqual([])
})

const change = (method: 'POST' | 'DELETE', id: string, { token } = olga) =>
  app.call(method, `/posts/${id}/likes`, { token })
const like = (id: string, user = olga) => change('POST', id, user)
const unlike = (id: string, user = olga) => change('DELETE', id, user)
const readPost = async (id: string, token?: string): Promise<Post> =>
  (await app.call('GET', `/posts/${id}`, { token })).body
const liked = async ({ token }: TestUser) =>
  (await app.call('GET', '/posts?filter=liked', { token })).body

test('a like is counted for everybody and shown as liked to its user only', async () => {
  const post = await app.publish(olga)
  expect(await like(post.id)).toMatchObject({ status: 200, body: { likes_count: 1 } })
  expect(await like(post.id, petr)).toMatchObject({ body: { likes_count: 2 } })
  const nina = await app.signUp()
  expect((await readPost(post.id, petr.token)).actions).toMatchObject({
    is_liked: true,
    likes_count: 2,
  })
  for (const token of [nina.token, undefined]) {
    expect((await readPost(post.id, token)).actions).toMatchObject({
      is_liked: false,
      likes_count: 2,
    })
  }
})

test('liking twice and unliking twice succeed and change nothing', async () => {
  const post = await app.publish(petr)
  expect((await unlike(post.id)).body).toEqual({ likes_count: 0 })
  expect((await like(post.id)).body).toEqual({ likes_count: 1 })
  expect((await like(post.id)).body).toEqual({ likes_count: 1 })
  expect((await unlike(post.id)).body).toEqual({ likes_count: 0 })
  expect((await unlike(post.id)).body).toEqual({ likes_count: 0 })
})

test('a like of a missing post is POST_NOT_FOUND', async () => {
  for (const id of ['999999999', 'abc']) {
    expectRefusal(await like(id), 'POST_NOT_FOUND')
    expectRefusal(await unlike(id), 'POST_NOT_FOUND')
  }
})

testPerNode('limits counted in memory, by each node for itself')(
  'a like that fails is not counted',
  async () => {
    // Six likes at once.
    const strict = await appForTest({ config: { rateLimitScale: 0.02 } })
    const user = await strict.signUp()
    const { token } = user
    const { id } = await strict.publish(user)
    const give = (post: string) => strict.call('POST', `/posts/${post}/likes`, { token })
    for (let time = 0; time < 8; time++) expectRefusal(await give('abc'), 'POST_NOT_FOUND')
    expect((await give(id)).status).toBe(200)
  },
)

test('the liked list belongs to the viewer: a visitor has none, the viewer’s own userId changes nothing, and another’s is refused with a reason', async () => {
  expectRefusal(await app.call('GET', '/posts?filter=liked'), 'UNAUTHORIZED')
  const [nina, petr] = [await app.signUp(), await app.signUp()]
  const post = await app.publish(petr)
  await like(post.id, nina)
  const likedOf = ({ id }: TestUser) =>
    app.call('GET', `/posts?userId=${id}&filter=liked`, { token: nina.token })
  expect((await likedOf(nina)).body).toEqual(await liked(nina))
  expect((await likedOf(nina)).body.posts.map(({ id }: Post) => id)).toEqual([post.id])
  const refused = await likedOf(petr)
  expectRefusal(refused, 'INVALID_REQUEST')
  expect(refused.body.message).toMatch(/Понравившиеся записи видит только тот/)
})

test('the liked list contains posts and replies by the time of the like, without those unliked', async () => {
  const nina = await app.signUp()
  const first = await app.publish(olga, 'Первая')
  const second = await app.publish(petr, 'Вторая')
  const reply = await app.reply(petr, first.id)
  for (const { id } of [second, reply, first]) await like(id, nina)
  const list = await liked(nina)
  expect(list.posts.map(({ id }: Post) => id)).toEqual([first.id, reply.id, second.id])
  expect(list).toMatchObject({ total: 3, lastPage: 1, nextCursor: null })
  expect(list.posts[1].actions.replied_post).toMatchObject({
    id: first.id,
    actions: { is_liked: true, likes_count: 1 },
  })

  await unlike(reply.id, nina)
  await unlike(second.id, nina)
  await like(second.id, nina)
  expect((await liked(nina)).posts.map(({ id }: Post) => id)).toEqual([second.id, first.id])
})

test('a body is refused where none is described, unless it is an empty object', async () => {
  const { id } = await app.publish(petr)
  const send = (body: object) => app.call('POST', `/posts/${id}/likes`, { token: olga.token, body })
  expect((await send({ likes: 1000 })).body.code).toBe('INVALID_REQUEST')
  expect((await send({})).body).toEqual({ likes_count: 1 })
})

test('after 100 concurrent likes and unlikes of one post the count equals the rows', async () => {
  const users = await signUps(app, 10)
  const post = await app.publish(olga)
  const race = users.flatMap((user, u) =>
    Array.from({ length: 10 }, (_, n) => () => ((u + n) % 3 ? like : unlike)(post.id, user)),
  )
  const answers = await atOnce(race)
  expect(answers.map(({ status }) => status)).toEqual(race.map(() => 200))
  const rows = await app.db.selectFrom('likes').selectAll().where('post_id', '=', post.id).execute()
  expect((await readPost(post.id)).actions.likes_count).toBe(rows.length)
})

test('100 likes and unlikes by one user count at most once, and the last response is right', async () => {
  const post = await app.publish(petr)
  const answers = await atOnce(
    Array.from({ length: 100 }, (_, n) => () => (n % 2 ? unlike : like)(post.id)),
  )
  for (const { status, body } of answers) {
    expect(status).toBe(200)
    expect([0, 1]).toContain(body.likes_count)
  }
  const { is_liked, likes_count } = (await readPost(post.id, olga.token)).actions
  expect(likes_count).toBe(Number(is_liked))
})
