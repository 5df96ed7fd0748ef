import { expect, test } from 'vitest'
import { createMemoryCache } from './cache.ts'
import type { CachedResponse } from './cached-response.ts'

const responseOf = (body: string): CachedResponse => ({
  route: '/posts',
  maxAgeMs: 1000,
  isPage: false,
  tag: 'x',
  variants: { identity: { body: Buffer.from(body), headers: {}, notModifiedHeaders: {} } },
  likes: [],
})

/** Caches `count` responses in 100 KB and returns how many are still there. */
function countCached(count: number, urlOf: (n: number) => string, body: string): number {
  const cache = createMemoryCache({ maxBytes: 100_000 })
  cache.setSubscribed(true)
  const urls = Array.from({ length: count }, (_, n) => urlOf(n))
  for (const url of urls) cache.put(url, responseOf(body), cache.version())
  return urls.filter((url) => cache.getForVisitor(url)).length
}

test('memory is bounded by the size of the responses and by that of their URLs', () => {
  expect(countCached(1000, (n) => `/posts/${n}`, 'x'.repeat(29_000))).toBe(3)
  expect(countCached(1000, (n) => `/posts/${n}?${'&'.repeat(14_500)}`, '{}')).toBe(3)
})

/** A cache on a clock that the test moves, with one response just cached. */
function cacheAtZero() {
  let ms = 0
  const cache = createMemoryCache({ clock: () => ms })
  cache.setSubscribed(true)
  cache.put('/posts', responseOf('{}'), cache.version())
  return { cache, wait: (by: number) => (ms += by) }
}

test('a response is served again for a second; while the database is unavailable, for ten minutes', () => {
  const { cache, wait } = cacheAtZero()
  wait(1000)
  expect(cache.getForVisitor('/posts')).toBeDefined()
  wait(1)
  expect(cache.getForVisitor('/posts')).toBeUndefined()
  wait(598_999)
  expect(cache.getDuringOutage('/posts')?.age).toBe(600)
  wait(1)
  expect(cache.getDuringOutage('/posts')).toBeUndefined()
})

test('a response that was read before posts changed is never served again', () => {
  const { cache } = cacheAtZero()
  cache.invalidate('posts')
  expect(cache.getDuringOutage('/posts')).toBeUndefined()
})

test('a node that no longer receives the changes of others serves cached responses only during an outage, and none from before once it receives them again', () => {
  const { cache } = cacheAtZero()
  cache.setSubscribed(false)
  expect(cache.getForVisitor('/posts')).toBeUndefined()
  expect(cache.getDuringOutage('/posts')).toBeDefined()
  cache.setSubscribed(true)
  expect(cache.getDuringOutage('/posts')).toBeUndefined()
})

test('a like makes only those responses wrong for signed-in viewers that show its post', () => {
  const cache = createMemoryCache()
  cache.setSubscribed(true)
  const putPost = (postId: string) => {
    const response = { ...responseOf('{}'), likes: [{ postId, offset: 0 }] }
    cache.put(`/posts/${postId}`, response, cache.version())
  }
  const isCached = (postId: string) => cache.getForUser(`/posts/${postId}`) !== undefined
  for (const postId of ['1', '2']) putPost(postId)
  const before = cache.version()
  cache.invalidate('likes 1')
  expect([isCached('1'), isCached('2')]).toEqual([false, true])
  expect(cache.getForVisitor('/posts/1')).toBeDefined()
  // A read that began before the like may not have seen it.
  const late = { ...responseOf('{}'), likes: [{ postId: '1', offset: 0 }] }
  cache.put('/posts/1', late, before)
  expect(isCached('1')).toBe(false)
  putPost('1')
  expect(isCached('1')).toBe(true)
  cache.invalidate('likes')
  expect([isCached('1'), isCached('2')]).toEqual([false, false])
})
