import { expect, test } from 'vitest'
import { createMemoryCache } from './cache.ts'
import type { CachedResponse } from './cached-response.ts'

const responseOf = (body: string, postIds?: string[]): CachedResponse => ({
  route: '/posts',
  maxAgeMs: 1000,
  isPage: false,
  tag: 'x',
  variants: { identity: { body: Buffer.from(body), headers: {}, notModifiedHeaders: {} } },
  likes: [],
  postIds,
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

/** A cache on a clock that the test moves, with one response just cached, which shows the post 7. */
function cacheAtZero(maxBytes?: number) {
  let ms = 0
  const cache = createMemoryCache({ clock: () => ms, ...(maxBytes && { maxBytes }) })
  cache.setSubscribed(true)
  const put = (url: string, response = responseOf('{}')) =>
    cache.put(url, response, cache.version())
  put('/posts', responseOf('{}', ['7']))
  return {
    cache,
    put,
    wait: (by: number) => (ms += by),
    ageOf: (url: string) => cache.getSaved(url, true)?.age,
  }
}

test('a response is served again for a second, and saved for ten minutes after it was last known to be right', () => {
  const { cache, wait, ageOf } = cacheAtZero()
  wait(1000)
  expect(cache.getForVisitor('/posts')).toBeDefined()
  wait(1)
  expect(cache.getForVisitor('/posts')).toBeUndefined()
  wait(3_600_000)
  cache.confirm(3_600_000)
  expect(ageOf('/posts')).toBe(1)
  wait(598_999)
  expect(ageOf('/posts')).toBe(600)
  wait(1)
  expect(ageOf('/posts')).toBeUndefined()
})

test.each(['likes', 'posts added', 'posts changed 8'] as const)(
  '«%s» makes a response outdated, and it stays saved for ten minutes from then',
  (change) => {
    const { cache, wait, ageOf } = cacheAtZero()
    wait(5000)
    cache.invalidate(change)
    cache.confirm(5000)
    expect(cache.getForUser('/posts')).toBeUndefined()
    wait(600_000)
    cache.confirm(605_000)
    expect(ageOf('/posts')).toBe(600)
    expect(cache.getSaved('/posts', false) === undefined).toBe(change !== 'likes')
    wait(1)
    expect(ageOf('/posts')).toBeUndefined()
  },
)

test('what shows a post that was changed, or may have, is saved no longer; nor is a read that began before', () => {
  for (const change of ['posts', 'posts changed 7'] as const) {
    const { cache, put, ageOf } = cacheAtZero()
    put('/unknown')
    const before = cache.version()
    cache.invalidate(change)
    cache.put('/posts/7', responseOf('{}', ['7']), before)
    for (const url of ['/posts', '/posts/7', '/unknown']) expect(ageOf(url), url).toBeUndefined()
  }
})

test('a node that no longer receives the changes of others serves cached responses only during an outage, and none from before once it receives them again', () => {
  const { cache, put, ageOf } = cacheAtZero()
  cache.setSubscribed(false)
  put('/late')
  expect(cache.getForVisitor('/posts')).toBeUndefined()
  expect([ageOf('/posts'), ageOf('/late')]).toEqual([0, undefined])
  expect(cache.getSaved('/posts', false)).toBeDefined()
  cache.setSubscribed(true)
  expect(ageOf('/posts')).toBeUndefined()
})

test('of many pages that are read once, those that were read again stay: a crawler does not empty what is saved', () => {
  const { put, ageOf } = cacheAtZero(1_000_000)
  for (let n = 0; n < 4; n++) put('/posts')
  for (let n = 0; n < 300; n++) put(`/posts/${n}`, responseOf('x'.repeat(10_000)))
  expect([ageOf('/posts'), ageOf('/posts/0'), ageOf('/posts/299')]).toEqual([0, undefined, 0])
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

test('a page shows each new post at once; while many come one after another, it is made again every 100 ms', () => {
  let ms = 0
  const cache = createMemoryCache({ clock: () => ms })
  cache.setSubscribed(true)
  const isServed = () => cache.getForVisitor('/') !== undefined
  const page = { ...responseOf('<p>', ['7']), refreshedEveryMs: 100 }
  const put = () => cache.put('/', page, cache.version())
  put()
  for (const _ of [1, 2, 3]) {
    ms += 20
    cache.invalidate('posts added')
    expect(isServed()).toBe(false)
    put()
  }
  ms += 20
  cache.invalidate('posts added')
  expect(isServed()).toBe(true)
  ms += 79
  expect(isServed()).toBe(true)
  ms += 1
  expect(isServed()).toBe(false)

  // One that was added while the page was made keeps it from being served no longer than others.
  const version = cache.version()
  cache.invalidate('posts added')
  cache.put('/', page, version)
  expect(isServed()).toBe(true)
  cache.invalidate('posts changed 8')
  expect(isServed()).toBe(false)
  put()
  expect(isServed()).toBe(true)
  cache.invalidate('posts changed 7')
  expect(isServed()).toBe(false)

  // After a pause it shows each of them again.
  put()
  ms += 200
  put()
  cache.invalidate('posts added')
  expect(isServed()).toBe(false)
})

test('a page from before an edit, a removal or a gap in the change feed is not cached after it', () => {
  for (const change of ['posts', 'posts changed 8', 'gap'] as const) {
    const { cache } = cacheAtZero()
    const version = cache.version()
    cache.invalidate('posts added')
    if (change === 'gap')
      for (const isSubscribed of [false, true]) cache.setSubscribed(isSubscribed)
    else cache.invalidate(change)
    cache.put('/', { ...responseOf('<p>'), refreshedEveryMs: 100 }, version)
    expect(cache.getSaved('/', true)).toBeUndefined()
  }
})
