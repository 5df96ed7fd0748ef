import { sql } from 'kysely'
import { beforeAll, expect, test } from 'vitest'
import type { Post } from '../../../contract/posts.ts'
import type { TestUser } from '../../testing/client.ts'
import { allEndpoints } from '../../testing/endpoints.ts'
import { appForFile } from '../../testing/test-app.ts'

const app = await appForFile()
let olga: TestUser
beforeAll(async () => {
  olga = await app.signUp()
})

/** A visitor's read that has been answered before, and is perhaps served from the cache. */
async function readTwice(path: string) {
  await app.call('GET', path)
  return (await app.call('GET', path)).body
}

test('a visitor who has just read sees each publication, edit, reply and deletion at once', async () => {
  expect((await readTwice('/posts')).total).toBe(0)
  const post = await app.publish(olga)
  expect(await readTwice('/posts')).toMatchObject({ total: 1, posts: [{ text: post.text }] })

  const edit = { token: olga.token, body: { text: 'Иначе' } }
  await app.call('PATCH', `/posts/${post.id}`, edit)
  expect(await readTwice('/posts')).toMatchObject({ posts: [{ text: 'Иначе', is_modified: true }] })

  expect((await readTwice(`/posts/${post.id}/replies`)).total).toBe(0)
  const reply = await app.reply(olga, post.id)
  expect(await readTwice(`/posts/${post.id}/replies`)).toMatchObject({ total: 1 })
  expect((await readTwice(`/posts/${post.id}`)).actions.replies_count).toBe(1)

  expect((await readTwice(`/posts/${reply.id}`)).actions.replied_post.id).toBe(post.id)
  await app.call('DELETE', `/posts/${post.id}`, { token: olga.token })
  expect((await readTwice(`/posts/${reply.id}`)).actions.replied_post).toBeNull()
  expect((await readTwice('/posts')).total).toBe(0)
  expect((await app.call('GET', `/posts/${post.id}`)).status).toBe(404)
})

test('a user’s view is served to nobody else, and a visitor’s view to no user', async () => {
  const petr = await app.signUp()
  const { id } = await app.publish(olga)
  await app.call('POST', `/posts/${id}/likes`, { token: olga.token })
  const isLiked = async (token?: string) => {
    const { posts } = (await app.call('GET', '/posts?limit=9', { token })).body
    return posts.find((post: Post) => post.id === id).actions.is_liked
  }
  for (let times = 0; times < 3; times++) {
    expect(await isLiked(olga.token)).toBe(true)
    expect(await isLiked(petr.token)).toBe(false)
    expect(await isLiked()).toBe(false)
  }
})

test('an error is not served again once its cause is gone', async () => {
  const next = String(Number((await app.publish(olga)).id) + 1)
  expect((await readTwice(`/posts/${next}`)).code).toBe('POST_NOT_FOUND')
  const post = await app.publish(olga)
  expect(post.id).toBe(next)
  expect((await readTwice(`/posts/${next}`)).id).toBe(next)
})

test('a new username shows on the posts at once', async () => {
  const vera = await app.signUp()
  const { id } = await app.publish(vera)
  await readTwice(`/posts/${id}`)
  await app.call('PATCH', '/users/current/profile', {
    token: vera.token,
    body: { username: 'vera_iz_tveri' },
  })
  expect((await readTwice(`/posts/${id}`)).owner.username).toBe('vera_iz_tveri')
})

test('a like shows to its user at once, and to all others within a second', async () => {
  const petr = await app.signUp()
  const { id } = await app.publish(olga)
  const countFor = async (token?: string) =>
    (await app.call('GET', `/posts/${id}`, { token })).body.actions
  const vera = await app.signUp()
  for (const token of [undefined, vera.token, petr.token]) await countFor(token)
  const liked = Date.now()
  await app.call('POST', `/posts/${id}/likes`, { token: petr.token })
  expect(await countFor(petr.token)).toMatchObject({ likes_count: 1, is_liked: true })
  for (const token of [undefined, vera.token]) {
    for (;;) {
      const asked = Date.now()
      const { likes_count, is_liked } = await countFor(token)
      expect(is_liked).toBe(false)
      if (likes_count === 1) break
      expect(asked - liked).toBeLessThanOrEqual(1000)
    }
  }
})

test('a commit without a notification shows to visitors within a second', async () => {
  const before = (await readTwice('/posts')).total
  await sql`INSERT INTO posts (owner_id, text) VALUES (${olga.id}, 'Новое')`.execute(app.db)
  const committed = Date.now()
  for (;;) {
    const asked = Date.now()
    if ((await app.call('GET', '/posts')).body.total > before) break
    expect(asked - committed).toBeLessThanOrEqual(1000)
  }
})

test('a visitor’s read has an ETag and lets a CDN cache it for a second; the same again is 304 without a body', async () => {
  await app.publish(olga)
  for (const round of ['first', 'cached']) {
    const first = await fetch(`${app.url}/api/v1/posts`)
    const etag = first.headers.get('etag') ?? ''
    expect(etag, round).toMatch(/^"[\w-]{27}(?:-gzip|-br)?"$/)
    expect(first.headers.get('cache-control')).toBe(
      'public, max-age=0, s-maxage=1, stale-while-revalidate=5, stale-if-error=3600',
    )
    expect(first.headers.get('vary')).toBe('Authorization, Accept-Encoding')
    const second = await fetch(`${app.url}/api/v1/posts`, { headers: { 'if-none-match': etag } })
    expect(second.status, round).toBe(304)
    expect(second.headers.get('etag')).toBe(etag)
    expect(await second.text()).toBe('')
    // A proxy that compressed the response asks like this.
    const weak = { 'if-none-match': `W/${etag}` }
    expect((await fetch(`${app.url}/api/v1/posts`, { headers: weak })).status, round).toBe(304)
  }
})

test('a visitor’s read is compressed as the client accepts it, each encoding with an ETag of its own', async () => {
  await app.publish(olga, 'длинная запись '.repeat(30))
  const encodings = {
    br: 'br',
    'gzip, deflate, br, zstd': 'br',
    'gzip, br;q=0': 'gzip',
    'GZIP;q=0.5, identity': 'gzip',
    deflate: null,
    '': null,
  }
  const tags = new Set<string | null>()
  for (const round of ['first', 'cached']) {
    for (const [accepted, encoding] of Object.entries(encodings)) {
      const headers = { 'accept-encoding': accepted }
      const answer = await fetch(`${app.url}/api/v1/posts`, { headers })
      expect(answer.headers.get('content-encoding'), `${round} ${accepted}`).toBe(encoding)
      expect(await answer.text()).toContain('длинная запись')
      tags.add(answer.headers.get('etag'))
    }
  }
  expect(tags.size).toBe(3)
})

test('exactly the endpoints with a cache entry answer a visitor with an ETag', async () => {
  const { id } = await app.publish(olga)
  const reads = [...(await allEndpoints()).values()].filter(
    ({ method, access }) => method === 'GET' && access === 'public',
  )
  expect(reads.map(({ cache }) => cache === undefined)).toContain(true)
  for (const { path, cache } of reads) {
    // Without an author it is the viewer's own list.
    const query = path === '/posts/replies' ? `?userId=${olga.id}` : ''
    const answer = await app.call(
      'GET',
      path.replace(':id', id).replace(':username', 'no_one') + query,
    )
    expect(answer.headers.has('etag'), path).toBe(cache !== undefined)
  }
})

test('the list of liked posts is never cached', async () => {
  const { id } = await app.publish(olga)
  const likedIds = async () => {
    const { posts } = (await app.call('GET', '/posts?filter=liked', { token: olga.token })).body
    return posts.map((post: Post) => post.id)
  }
  expect(await likedIds()).not.toContain(id)
  const petr = await app.signUp()
  await app.call('POST', `/posts/${id}/likes`, { token: olga.token })
  expect(await likedIds()).toContain(id)
  const { posts } = (await app.call('GET', '/posts?filter=liked', { token: petr.token })).body
  expect(posts).toEqual([])
})

test('a CDN may cache the 404 of a deleted post for a second', async () => {
  const { id } = await app.publish(olga)
  await app.call('DELETE', `/posts/${id}`, { token: olga.token })
  for (const path of [`/api/v1/posts/${id}`, `/posts/${id}`, `/posts/${id}/replies.atom`]) {
    const { status, headers } = await fetch(app.url + path)
    expect([path, status]).toEqual([path, 404])
    expect(headers.get('cache-control')).toBe('public, max-age=0, s-maxage=1')
    expect(headers.get('vary')).toMatch(/^(Authorization|Cookie)/)
  }
  const own = await app.call('GET', `/posts/${id}`, { token: olga.token })
  expect(own.headers.get('cache-control')).toBe('no-store')
})
