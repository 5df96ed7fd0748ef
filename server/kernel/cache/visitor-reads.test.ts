import { expect, test } from 'vitest'
import { decide, signUpModerator } from '../../testing/calls/moderation-calls.ts'
import { captureStatements } from '../../testing/database/plans.ts'
import { PAST_CACHE, type TestAnswer } from '../../testing/http/client.ts'
import { allEndpoints } from '../../testing/http/endpoints.ts'
import { appForFile, testPerNode } from '../../testing/test-app.ts'

const app = await appForFile()
const olga = await app.signUp()

/** A visitor's read that has been answered before, and is perhaps served from the cache. */
async function readTwice(path: string) {
  await app.call('GET', path)
  return (await app.call('GET', path)).body
}

test('a visitor who has just read sees each publication, new username, edit, reply and deletion at once', async () => {
  const olga = await app.signUp()
  const { token } = olga
  expect((await readTwice('/posts')).total).toBe(0)
  const post = await app.publish(olga)
  expect(await readTwice('/posts')).toMatchObject({ total: 1, posts: [{ text: post.text }] })

  const body = { username: 'olga_iz_tveri' }
  await app.call('PATCH', '/users/current/profile', { token, body })
  expect((await readTwice(`/posts/${post.id}`)).owner).toMatchObject(body)

  await app.call('PATCH', `/posts/${post.id}`, { token, body: { text: 'Иначе' } })
  expect(await readTwice('/posts')).toMatchObject({ posts: [{ text: 'Иначе', is_modified: true }] })

  expect((await readTwice(`/posts/${post.id}/replies`)).total).toBe(0)
  const reply = await app.reply(olga, post.id)
  expect(await readTwice(`/posts/${post.id}/replies`)).toMatchObject({ total: 1 })
  expect((await readTwice(`/posts/${post.id}`)).actions.replies_count).toBe(1)

  expect((await readTwice(`/posts/${reply.id}`)).actions.replied_post.id).toBe(post.id)
  await app.call('DELETE', `/posts/${post.id}`, { token })
  expect((await readTwice(`/posts/${reply.id}`)).actions.replied_post).toBeNull()
  expect((await readTwice('/posts')).total).toBe(0)
  expect((await app.call('GET', `/posts/${post.id}`)).status).toBe(404)
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

test('a visitor’s read has an ETag and lets a CDN cache it for a second; the same again is 304 without a body', async () => {
  await app.publish(olga)
  for (const round of ['first', 'cached']) {
    const first = await fetch(`${app.url}/api/v1/posts`)
    const etag = first.headers.get('etag') ?? ''
    expect(etag, round).toMatch(/^"[\w-]{27}(?:-gzip|-br)?"$/)
    expect(first.headers.get('cache-control')).toBe(
      'public, max-age=0, s-maxage=1, stale-if-error=3600',
    )
    expect(first.headers.get('vary')).toBe('Authorization, Accept-Encoding')
    expect(first.headers.get('x-content-type-options')).toBe('nosniff')
    expect(first.headers.get('content-security-policy')).toMatch(/^default-src 'self'/)
    // A proxy that compressed the response asks for the weak one.
    for (const known of [etag, `W/${etag}`, '*']) {
      const headers = { 'if-none-match': known }
      const again = await fetch(`${app.url}/api/v1/posts`, { headers })
      expect([again.status, again.headers.get('etag'), await again.text()]).toEqual([304, etag, ''])
    }
  }
})

test('a visitor’s read is compressed as the client accepts it, each encoding with an ETag of its own', async () => {
  await app.publish(olga, 'длинная запись '.repeat(30))
  const read = (headers = {}) => fetch(`${app.url}/api/v1/posts`, { headers })
  const isShown = async () => (await (await read()).text()).includes('длинная запись')
  // Where there are two nodes, they answer in turn, and one hears of the post a moment later.
  await expect.poll(async () => [await isShown(), await isShown()]).toEqual([true, true])
  const encodings = {
    'gzip, deflate, br, zstd': 'br',
    'gzip, br;q=0': 'gzip',
    'GZIP;q=0.5, identity': 'gzip',
    deflate: null,
  }
  const tags = new Set<string | null>()
  for (const round of ['first', 'cached']) {
    for (const [accepted, encoding] of Object.entries(encodings)) {
      const answer = await read({ 'accept-encoding': accepted })
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
    const address = path.replace(':id', id).replace(':username', 'no_one') + query
    const answer = await app.call('GET', address)
    expect(answer.headers.has('etag'), path).toBe(cache !== undefined)
  }
})

test('a CDN may cache the 404 of a deleted post for a second', async () => {
  const { id } = await app.publish(olga)
  await app.call('DELETE', `/posts/${id}`, { token: olga.token })
  const ofPage = ['', '/replies.atom', '/picture.png'].map((rest) => `/posts/${id}${rest}`)
  for (const path of [`/api/v1/posts/${id}`, ...ofPage]) {
    const { status, headers } = await fetch(app.url + path)
    expect([path, status]).toEqual([path, 404])
    expect(headers.get('cache-control')).toMatch(/^public, max-age=0, s-maxage=1(, no-transform)?$/)
    expect(headers.get('vary')).toMatch(/^(Authorization|Cookie)/)
  }
  const own = await app.call('GET', `/posts/${id}`, { token: olga.token })
  expect(own.headers.get('cache-control')).toBe('no-store')
})

/** Whether a visitor's read of the wall, which was read just before a call, asks the database after it. */
async function readsAfter(call: () => Promise<unknown>, headers = {}): Promise<boolean> {
  await app.call('GET', '/posts')
  await call()
  const sent = await captureStatements(() => app.call('GET', '/posts', { headers }))
  return sent.some(({ text }) => text.includes('WITH page AS'))
}

testPerNode('responses that each node caches for itself')(
  'what changes nothing invalidates no cached response, and a visitor cannot read past the cache',
  async () => {
    const [petr, moderator] = [await app.signUp(), await signUpModerator(app)]
    const { id, text } = await app.publish(olga)
    const { token, username } = olga
    const block = { days: 7, removesRecent: true }
    const blocked = { token: moderator.token, body: { ...block, reason: 'Спам' } }
    const likes = `/posts/${id}/likes`
    const publishOnce = () =>
      app.call('POST', '/posts', { token, headers: { 'idempotency-key': 'once' }, body: { text } })
    expect(await readsAfter(publishOnce)).toBe(true)
    const calls: [call: () => Promise<TestAnswer>, status: number][] = [
      [() => app.call('POST', likes, { token: petr.token }), 200],
      [() => app.call('DELETE', likes, { token: petr.token }), 200],
      [publishOnce, 201],
      [() => app.call('PATCH', `/posts/${id}`, { token, body: { text } }), 400],
      [() => app.call('PATCH', '/users/current/profile', { token, body: { username } }), 200],
      [() => decide(app, moderator, { postId: id, verdict: 'keep' }), 404],
      [() => decide(app, moderator, { postId: id, verdict: 'remove', block }), 404],
      [() => app.call('PUT', '/moderation/users/0/block', blocked), 404],
    ]
    for (const [call, status] of calls) {
      expect((await call()).status).toBe(status)
      // A cached response lives for a second: on a busy machine the first tries may take longer.
      await expect.poll(() => readsAfter(call, PAST_CACHE)).toBe(false)
    }
  },
)
