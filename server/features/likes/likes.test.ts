import { sql } from 'kysely'
import { afterEach, expect, test } from 'vitest'
import type { Post } from '../../../contract/posts.ts'
import type { Queryable } from '../../kernel/db/database.ts'
import { atOnce, signUps } from '../../testing/at-once.ts'
import type { TestUser } from '../../testing/client.ts'
import { lockWaits } from '../../testing/databases.ts'
import { expectRefusal } from '../../testing/expect-refusal.ts'
import { appForFile, appForTest, testPerNode } from '../../testing/test-app.ts'
import { findCounterDifferences } from '../posts/counters.task.ts'
import { batchLikes } from './likes.routes.ts'

// A statement waits for a lock as long as a test needs.
const app = await appForFile({ poolLimits: { statementTimeoutMs: 60_000 } })
const olga = await app.signUp()
const users = await signUps(app, 10)
const [petr, nina, third] = users as [TestUser, TestUser, TestUser]
afterEach(async () => expect(await findCounterDifferences(app.db)).toEqual([]))

const change = (method: 'POST' | 'DELETE', id: string, { token } = olga) =>
  app.call(method, `/posts/${id}/likes`, { token })
const like = (id: string, user = olga) => change('POST', id, user)
const unlike = (id: string, user = olga) => change('DELETE', id, user)
const readPost = async (id: string, token?: string): Promise<Post> =>
  (await app.call('GET', `/posts/${id}`, { token })).body
const liked = async ({ token }: TestUser) =>
  (await app.call('GET', '/posts?filter=liked', { token })).body
const idsOf = ({ posts }: { posts: Post[] }) => posts.map(({ id }) => id)

test('a like is counted for everybody and shown as liked to its user only', async () => {
  const post = await app.publish(olga)
  expect(await like(post.id)).toMatchObject({ status: 200, body: { likes_count: 1 } })
  expect(await like(post.id, petr)).toMatchObject({ body: { likes_count: 2 } })
  for (const token of [petr.token, nina.token, undefined]) {
    const { actions } = await readPost(post.id, token)
    expect(actions).toMatchObject({ is_liked: token === petr.token, likes_count: 2 })
  }
})

test('liking twice and unliking twice succeed and change nothing', async () => {
  const post = await app.publish(petr)
  expect((await unlike(post.id)).body).toEqual({ likes_count: 0 })
  for (const _ of [1, 2]) expect((await like(post.id)).body).toEqual({ likes_count: 1 })
  for (const _ of [1, 2]) expect((await unlike(post.id)).body).toEqual({ likes_count: 0 })
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
  const viewer = await app.signUp()
  const post = await app.publish(petr)
  await like(post.id, viewer)
  const likedOf = ({ id }: TestUser) =>
    app.call('GET', `/posts?userId=${id}&filter=liked`, { token: viewer.token })
  expect((await likedOf(viewer)).body).toEqual(await liked(viewer))
  expect(idsOf(await liked(viewer))).toEqual([post.id])
  const refused = await likedOf(petr)
  expectRefusal(refused, 'INVALID_REQUEST')
  expect(refused.body.message).toMatch(/Понравившиеся записи видит только тот/)
})

test('the liked list contains posts and replies by the time of the like, without those unliked', async () => {
  const viewer = await app.signUp()
  const first = await app.publish(olga, 'Первая')
  const second = await app.publish(petr, 'Вторая')
  const reply = await app.reply(petr, first.id)
  for (const { id } of [second, reply, first]) await like(id, viewer)
  const list = await liked(viewer)
  expect(idsOf(list)).toEqual([first.id, reply.id, second.id])
  expect(list).toMatchObject({ total: 3, lastPage: 1, nextCursor: null })
  expect(list.posts[1].actions.replied_post).toMatchObject({
    id: first.id,
    actions: { is_liked: true, likes_count: 1 },
  })

  await unlike(reply.id, viewer)
  await unlike(second.id, viewer)
  await like(second.id, viewer)
  expect(idsOf(await liked(viewer))).toEqual([second.id, first.id])
})

test('a body is refused where none is described, unless it is an empty object', async () => {
  const { id } = await app.publish(petr)
  const send = (body: object) => app.call('POST', `/posts/${id}/likes`, { token: olga.token, body })
  expect((await send({ likes: 1000 })).body.code).toBe('INVALID_REQUEST')
  expect((await send({})).body).toEqual({ likes_count: 1 })
})

test('after 100 concurrent likes and unlikes of one post by ten users the count equals the rows', async () => {
  const post = await app.publish(olga)
  const race = users.flatMap((user, u) =>
    Array.from({ length: 10 }, (_, n) => () => ((u + n) % 3 ? like : unlike)(post.id, user)),
  )
  const answers = await atOnce(race)
  expect(answers.map(({ status }) => status)).toEqual(race.map(() => 200))
  const rows = await app.db.selectFrom('likes').selectAll().where('post_id', '=', post.id).execute()
  expect((await readPost(post.id)).actions.likes_count).toBe(rows.length)
})

test('deleting liked posts while they are being liked and unliked returns 200, 204 or 404, and leaves exact counts', async () => {
  const posts = await atOnce(Array.from({ length: 16 }, () => () => app.publish(olga)))
  await atOnce(posts.flatMap(({ id }) => users.map((user) => () => like(id, user))))
  const race = posts.flatMap(({ id }, n) => [
    ...users.slice(0, 4).map((user) => () => unlike(id, user)),
    ...(n % 2 ? [() => app.call('DELETE', `/posts/${id}`, { token: olga.token })] : []),
    ...users.slice(0, 4).map((user) => () => like(id, user)),
  ])
  for (const { status } of await atOnce(race)) expect([200, 204, 404]).toContain(status)
})

test('likes and an unlike of a post wait for another transaction on the users’ totals, and deadlock with none', async () => {
  const [post, other] = [await app.publish(olga), await app.publish(olga)]
  // In the order of their ids, in which the removal locks totals.
  const [one, two] = Number(petr.id) < Number(nina.id) ? [petr, nina] : [nina, petr]
  for (const user of [one, two]) await like(other.id, user)
  await like(post.id, one)
  const lockPost = await app.db.startTransaction().execute()
  await sql`SELECT FROM posts WHERE id = ${post.id} FOR UPDATE`.execute(lockPost)
  const setLike = batchLikes(app.db)
  const changes = [setLike({ postId: post.id, userId: third.id, isLiked: true })]
  await expect.poll(() => lockWaits(app)).toBe(1)
  // These two come while the first transaction on the post is running.
  changes.push(setLike({ postId: post.id, userId: two.id, isLiked: true }))
  changes.push(setLike({ postId: post.id, userId: one.id, isLiked: false }))
  const removal = await app.db.startTransaction().execute()
  await lockTotal(removal, one)
  await lockPost.rollback().execute()
  await expect.poll(() => lockWaits(app)).toBeGreaterThan(0)
  await lockTotal(removal, two)
  await removal.rollback().execute()
  await Promise.all(changes)
  expect((await readPost(post.id)).actions.likes_count).toBe(2)
})

test('a like by an account that has just been erased fails alone among the likes of its transaction', async () => {
  const { id: postId } = await app.publish(olga)
  const setLike = batchLikes(app.db)
  // The first like has a transaction of its own, and the others share the next one.
  const likes = [olga.id, petr.id, '999999999', nina.id].map((userId) =>
    setLike({ postId, userId, isLiked: true }),
  )
  const ends = await Promise.allSettled(likes)
  expect(ends.map(({ status }) => status === 'fulfilled')).toEqual([true, true, false, true])
})

/** Locks a user's number of likes, as the removal of a deleted post's likes does. */
async function lockTotal(tx: Queryable, { id }: TestUser): Promise<void> {
  await sql`SELECT FROM like_totals WHERE user_id = ${id} FOR UPDATE`.execute(tx)
}
