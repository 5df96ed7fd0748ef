import { beforeEach, expect, test } from 'vitest'
import type { Post, PostPage } from '../../../contract/posts.ts'
import { atOnce } from '../../testing/at-once.ts'
import type { TestUser } from '../../testing/client.ts'
import { expectRefusal } from '../../testing/expect-refusal.ts'
import { seedWall } from '../../testing/seed.ts'
import { appForTest, type TestApp } from '../../testing/test-app.ts'

let app: TestApp
let olga: TestUser
beforeEach(async () => {
  app = await appForTest()
  olga = await app.signUp()
})

const read = async (path: string, token?: string): Promise<PostPage> =>
  (await app.call('GET', path, { token })).body
const ids = ({ posts }: PostPage) => posts.map(({ id }) => id)

async function publishMany(user: TestUser, count: number): Promise<Post[]> {
  const posts: Post[] = []
  for (let n = 1; n <= count; n++) posts.push(await app.publish(user, `Запись ${n}`))
  return posts
}

test('an empty wall has one page, no posts and no cursor', async () => {
  expect(await read('/posts')).toEqual({
    posts: [],
    firstPage: 1,
    lastPage: 1,
    total: 0,
    nextCursor: null,
  })
})

test('a published post is the first of the wall, for its author and for visitors', async () => {
  await app.publish(olga, 'Раньше')
  const post = await app.publish(olga, '  Первая запись  ')
  expect(post).toMatchObject({
    text: 'Первая запись',
    is_modified: false,
    owner: { id: olga.id, username: olga.username },
    actions: {
      is_liked: false,
      likes_count: 0,
      replies_count: 0,
      parent_post_id: null,
      replied_post_id: null,
      replied_post: null,
    },
  })
  expect(Math.abs(post.created_at - Date.now() / 1000)).toBeLessThan(60)
  for (const token of [undefined, olga.token]) {
    const { posts, total } = await read('/posts', token)
    expect(posts[0]).toEqual(post)
    expect(total).toBe(2)
  }
})

test('a page has 10 posts unless limit says otherwise, newest first', async () => {
  const newestFirst = (await publishMany(olga, 13)).reverse().map(({ id }) => id)
  expect(ids(await read('/posts'))).toEqual(newestFirst.slice(0, 10))
  expect(ids(await read('/posts?page=2'))).toEqual(newestFirst.slice(10))
  expect(ids(await read('/posts?limit=4&page=2'))).toEqual(newestFirst.slice(4, 8))
  expect(await read('/posts?limit=4')).toMatchObject({ firstPage: 1, lastPage: 4, total: 13 })
})

test('a page past the last is an empty list, even page=1e9', async () => {
  await publishMany(olga, 3)
  for (const page of ['2', '1000000000', '1e9', '2147483647']) {
    for (const path of ['/posts?', `/posts?userId=${olga.id}&`, '/posts?filter=liked&']) {
      const found = await app.call('GET', `${path}limit=50&page=${page}`, { token: olga.token })
      expect(found).toMatchObject({ status: 200, body: { posts: [], nextCursor: null } })
    }
  }
})

test('filter=all and no filter are the wall: replies are not on it', async () => {
  const post = await app.publish(olga)
  await app.reply(olga, post.id)
  for (const path of ['/posts', '/posts?filter=all']) {
    expect(await read(path)).toMatchObject({ total: 1, posts: [{ id: post.id }] })
  }
})

test('a bad bearer token is UNAUTHORIZED on public reads too, and never treated as a visitor', async () => {
  const post = await app.publish(olga)
  for (const path of ['/posts', `/posts/${post.id}`, `/posts/${post.id}/replies`]) {
    expectRefusal(await app.call('GET', path, { token: 'bad' }), 'UNAUTHORIZED')
    expectRefusal(await app.call('GET', path, { token: `${olga.token}x` }), 'UNAUTHORIZED')
    const headers = { authorization: 'Basic b2xnYTpvbGdh' }
    expectRefusal(await app.call('GET', path, { headers }), 'UNAUTHORIZED')
  }
})

test('cursors neither repeat nor skip posts while others publish and delete', async () => {
  await seedWall(app.db, olga.id, 300)
  const doomed = new Set<string>()
  const before = (
    await app.db.selectFrom('posts').select('id').where('replied_post_id', 'is', null).execute()
  ).map(({ id }) => id)
  for (const [index, id] of before.entries()) if (index % 5 === 0) doomed.add(id)

  const seen: string[] = []
  async function walk() {
    for (let cursor: string | null = ''; cursor !== null; ) {
      const page: PostPage = await read(`/posts?limit=7${cursor && `&cursor=${cursor}`}`)
      seen.push(...ids(page))
      cursor = page.nextCursor
    }
  }
  const deleting = [...doomed].map(
    (id) => () => app.call('DELETE', `/posts/${id}`, { token: olga.token }),
  )
  const publishing = Array.from(
    { length: 60 },
    () => () => app.call('POST', '/posts', { token: olga.token, body: { text: 'Ещё' } }),
  )
  await Promise.all([walk(), atOnce([...deleting, ...publishing])])

  expect(new Set(seen).size, 'no repeats').toBe(seen.length)
  expect(seen).toEqual(seen.toSorted((a, b) => Number(b) - Number(a)))
  const survivors = before.filter((id) => !doomed.has(id))
  expect(
    survivors.filter((id) => !seen.includes(id)),
    'no gaps',
  ).toEqual([])
})
