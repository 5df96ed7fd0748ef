import { expect, test } from 'vitest'
import type { PostPage } from '../../../contract/posts.ts'
import type { TestUser } from '../../testing/http/client.ts'
import { expectRefusal } from '../../testing/http/expect-refusal.ts'
import { appForFile } from '../../testing/test-app.ts'

const app = await appForFile()
const olga = await app.signUp()

const ids = ({ posts }: PostPage) => posts.map(({ id }) => id)

/** Publishes `count` posts. Returns their ids, the newest first. */
async function publishMany(user: TestUser, count: number): Promise<string[]> {
  const published: string[] = []
  while (published.length < count) published.unshift((await app.publish(user)).id)
  return published
}

test('a published post is the first of the wall, for its author and for visitors; a reply is not on it', async () => {
  const empty = { posts: [], firstPage: 1, lastPage: 1, total: 0, nextCursor: null }
  expect(await app.read('/posts')).toEqual(empty)
  const earlier = await app.publish(olga, 'Раньше')
  const post = await app.publish(olga, '  Первая запись  ')
  await app.reply(olga, earlier.id)
  expect(post).toMatchObject({
    text: 'Первая запись',
    is_modified: false,
    owner: { id: olga.id, username: olga.username },
    actions: {
      ...{ is_liked: false, likes_count: 0, replies_count: 0 },
      ...{ parent_post_id: null, replied_post_id: null, replied_post: null },
    },
  })
  expect(Math.abs(post.created_at - Date.now() / 1000)).toBeLessThan(60)
  for (const user of [undefined, olga]) {
    for (const path of ['/posts', '/posts?filter=all']) {
      const wall = await app.read(path, user)
      expect(wall.posts[0]).toEqual(post)
      expect([ids(wall), wall.total]).toEqual([[post.id, earlier.id], 2])
    }
  }
})

test('a page has 10 posts unless limit says otherwise, newest first; one past the last is an empty list, even page=1e9', async () => {
  const petr = await app.signUp()
  const newestFirst = await publishMany(petr, 13)
  const own = `/posts?userId=${petr.id}&`
  expect(ids(await app.read(own))).toEqual(newestFirst.slice(0, 10))
  expect(ids(await app.read(`${own}page=2`))).toEqual(newestFirst.slice(10))
  expect(await app.read(`${own}limit=4`)).toMatchObject({ firstPage: 1, lastPage: 4, total: 13 })
  for (const query of ['limit=1', 'limit=50', 'limit=5.0', 'cursor=1']) {
    expect((await app.call('GET', own + query)).status, query).toBe(200)
  }
  const none = { posts: [], nextCursor: null }
  for (const page of ['3', '1e9', '2147483647']) {
    for (const path of ['/posts?', own, '/posts?filter=liked&']) {
      expect(await app.read(`${path}page=${page}`, petr)).toMatchObject(none)
    }
  }
})

test('cursors neither repeat nor skip posts while others are published and deleted', async () => {
  const petr = await app.signUp()
  const newestFirst = await publishMany(petr, 12)
  const seen: string[] = []
  for (let cursor: string | null = ''; cursor !== null; ) {
    const place = cursor && `&cursor=${cursor}`
    const page: PostPage = await app.read(`/posts?userId=${petr.id}&limit=4${place}`)
    seen.push(...ids(page))
    cursor = page.nextCursor
    // The last that was seen, to which the cursor points, and one before it.
    for (const id of seen.slice(-2)) await app.call('DELETE', `/posts/${id}`, { token: petr.token })
    await app.publish(petr, 'Ещё')
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

const REFUSED = [
  ...['limit=1e6', 'limit=51', 'limit=0', 'limit=2.5', 'limit=', 'limit=0x10', 'limit=5&limit=6'],
  ...['page=0', 'page=-1', 'page=2147483648', 'page=1e400', 'page=1&cursor=5'],
  ...['cursor=', 'cursor=garbage', 'cursor=-1', `cursor=${'9'.repeat(19)}`, 'cursor=%00'],
  ...["cursor=1'--", 'cursor=1&cursor=2', 'filter=mine', 'userId=%00', 'unknown=1', '__proto__=1'],
]

test.each([
  ['/posts', REFUSED],
  ['/posts/replies', ['limit=51', 'page=0', 'cursor=x', 'page=1&cursor=5', 'filter=all']],
  ['/posts/1/replies', ['limit=51', 'cursor=x', 'filter=all', 'userId=1']],
  ['/posts/1/ancestors', ['limit=0', 'limit=101', 'page=1', 'cursor=5']],
])('%s refuses a query that it does not describe as INVALID_REQUEST', async (path, queries) => {
  for (const query of queries) {
    const { token } = olga
    expectRefusal(await app.call('GET', `${path}?${query}`, { token }), 'INVALID_REQUEST')
  }
})

const HOSTILE = `<script>alert(1)</script> '; DROP TABLE posts; -- \\ " \\u0000`

/** [what is sent, text, what is stored]; contract/text.test.ts has all the rules. */
test.each([
  ['that is normalised', ' и\u0306 а\u202eб\u202c\n', 'й аб'],
  ['of 500 emoji', '😀'.repeat(500), '😀'.repeat(500)],
  ['of markup and of what SQL or JSON would choke on', HOSTILE, HOSTILE],
])('a post with a text %s is published', async (_what, text, stored) => {
  const post = await app.publish(olga, text)
  expect(post.text).toBe(stored)
  expect((await app.read(`/posts/${post.id}`)).text).toBe(stored)
})

/** [what is sent, the text in JSON] */
test.each([
  ['nothing', '""'],
  ['501 emoji', `"${'😀'.repeat(501)}"`],
  ['NUL', '"а\\u0000б"'],
  ['a lone surrogate', '"а\\ud83dб"'],
])('a post, a reply or an edit with %s is INVALID_REQUEST and changes nothing', async (_, json) => {
  const petr = await app.signUp()
  const { token } = petr
  const post = await app.publish(petr)
  const body = `{"text":${json}}`
  for (const [method, path] of [
    ['POST', '/posts'],
    ['POST', `/posts/${post.id}/replies`],
    ['PATCH', `/posts/${post.id}`],
  ] as const) {
    expectRefusal(await app.call(method, path, { token, body }), 'INVALID_REQUEST')
  }
  expect((await app.read(`/posts?userId=${petr.id}`)).posts).toEqual([post])
})

test('a body that is not UTF-8 is INVALID_REQUEST', async () => {
  const body = Buffer.from('{"text":"\u00ff"}', 'latin1')
  const response = await fetch(`${app.url}/api/v1/posts`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${olga.token}` },
    body,
  })
  expectRefusal({ status: response.status, body: await response.json() }, 'INVALID_REQUEST')
})
