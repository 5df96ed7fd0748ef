import { beforeEach, expect, test } from 'vitest'
import type { Post, PostPage } from '../../../contract/posts.ts'
import type { TestUser } from '../../testing/client.ts'
import { expectRefusal } from '../../testing/expect-refusal.ts'
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

test('a published post is the first of the wall, for its author and for visitors; a reply is not on it', async () => {
  const empty = { posts: [], firstPage: 1, lastPage: 1, total: 0, nextCursor: null }
  expect(await read('/posts')).toEqual(empty)
  const earlier = await app.publish(olga, 'Раньше')
  const post = await app.publish(olga, '  Первая запись  ')
  await app.reply(olga, earlier.id)
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
    for (const path of ['/posts', '/posts?filter=all']) {
      const wall = await read(path, token)
      expect(wall.posts[0]).toEqual(post)
      expect(ids(wall)).toEqual([post.id, earlier.id])
      expect(wall.total).toBe(2)
    }
  }
})

test('a page has 10 posts unless limit says otherwise, newest first; one past the last is an empty list, even page=1e9', async () => {
  const posts: Post[] = []
  for (let n = 1; n <= 13; n++) posts.push(await app.publish(olga, `Запись ${n}`))
  const newestFirst = posts.toReversed().map(({ id }) => id)
  expect(ids(await read('/posts'))).toEqual(newestFirst.slice(0, 10))
  expect(ids(await read('/posts?page=2'))).toEqual(newestFirst.slice(10))
  expect(ids(await read('/posts?limit=4&page=2'))).toEqual(newestFirst.slice(4, 8))
  expect(await read('/posts?limit=4')).toMatchObject({ firstPage: 1, lastPage: 4, total: 13 })
  for (const page of ['3', '1000000000', '1e9', '2147483647']) {
    for (const path of ['/posts?', `/posts?userId=${olga.id}&`, '/posts?filter=liked&']) {
      const found = await app.call('GET', `${path}page=${page}`, { token: olga.token })
      expect(found).toMatchObject({ status: 200, body: { posts: [], nextCursor: null } })
    }
  }
})

test('cursors neither repeat nor skip posts while others are published and deleted', async () => {
  const posts: Post[] = []
  for (let n = 1; n <= 12; n++) posts.push(await app.publish(olga, `Запись ${n}`))
  const newestFirst = posts.toReversed().map(({ id }) => id)
  const seen: string[] = []
  for (let cursor: string | null = ''; cursor !== null; ) {
    const page: PostPage = await read(`/posts?limit=4${cursor && `&cursor=${cursor}`}`)
    seen.push(...ids(page))
    cursor = page.nextCursor
    // The last that was seen, to which the cursor points, and one before it.
    for (const id of seen.slice(-2)) await app.call('DELETE', `/posts/${id}`, { token: olga.token })
    await app.publish(olga, 'Ещё')
  }
  expect(seen).toEqual(newestFirst)
})

test('a bad bearer token is UNAUTHORIZED on public reads too, and never treated as a visitor', async () => {
  const { id } = await app.publish(olga)
  for (const authorization of ['Bearer bad', `Bearer ${olga.token}x`, 'Basic b2xnYTpvbGdh']) {
    for (const path of ['/posts', `/posts/${id}`, `/posts/${id}/replies`]) {
      expectRefusal(await app.call('GET', path, { headers: { authorization } }), 'UNAUTHORIZED')
    }
  }
})
