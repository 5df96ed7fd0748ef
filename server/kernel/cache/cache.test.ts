import { expect, test } from 'vitest'
import { MemoryCache } from './cache.ts'
import { CachedResponse } from './cached-response.ts'
import type { Change } from './change-feed.ts'

const responseOf = (body: string, postIds?: string[], isPage = false) =>
  new CachedResponse({
    route: '/posts',
    isPage,
    type: 'application/json',
    headers: {},
    body: Buffer.from(body),
    ...(postIds && { postIds }),
  })

const ADDED = { kind: 'added', answered: [] } satisfies Change

/** A cache on a clock that the test moves, with one response just cached, which shows the post 7. */
function cacheAtZero(maxBytes?: number) {
  let ms = 0
  const cache = new MemoryCache({ clock: () => ms, ...(maxBytes && { maxBytes }) })
  cache.setSubscribed(true)
  const put = (url: string, response = responseOf('{}')) => cache.put(url, response, cache.begin())
  put('/posts', responseOf('{}', ['7']))
  return {
    cache,
    put,
    wait: (by: number) => (ms += by),
    isFresh: (url: string) => cache.get(url) !== undefined,
    ageOf: (url: string) => cache.getStale(url)?.age,
  }
}

test.each([
  ['the responses', (n: number) => `/posts/${n}`, 'x'.repeat(14_000)],
  ['their URLs', (n: number) => `/posts/${n}?${'&'.repeat(14_500)}`, '{}'],
])(
  'memory is bounded by the size of %s, and a crawler does not evict a response that is read again',
  (_what, urlOf, body) => {
    const { put, isFresh } = cacheAtZero(100_000)
    const urls = Array.from({ length: 1000 }, (_, n) => urlOf(n))
    for (const url of urls) {
      put(url, responseOf(body))
      expect(isFresh('/posts')).toBe(true)
    }
    expect(urls.filter(isFresh)).toEqual(urls.slice(-2))
  },
)

test('a response is served for a second from the begin of its read, and may be served as a stale one for ten minutes', () => {
  const { cache, wait, isFresh, ageOf } = cacheAtZero()
  const begin = cache.begin()
  wait(900)
  cache.put('/slow', responseOf('{}'), begin)
  const stateOf = (url: string) => [isFresh(url), ageOf(url)]
  wait(100)
  expect(['/posts', '/slow'].map(stateOf)).toEqual(Array(2).fill([true, 1]))
  wait(1)
  expect(['/posts', '/slow'].map(stateOf)).toEqual(Array(2).fill([false, 1]))
  wait(598_999)
  expect(ageOf('/posts')).toBe(600)
  wait(1)
  expect(ageOf('/posts')).toBeUndefined()
})

test.each([ADDED, { kind: 'edited', postId: '8' }, { kind: 'removed', postId: '8' }] as const)(
  'after %o a response that does not show the post is not fresh; it stays as a stale one',
  (change) => {
    const { cache, isFresh, ageOf } = cacheAtZero()
    cache.invalidate(change)
    expect([isFresh('/posts'), ageOf('/posts')]).toEqual([false, 0])
  },
)

test('a response that may show an edited or removed post is not served even as stale, nor is a read that began before', () => {
  for (const change of [
    { kind: 'edited' },
    { kind: 'edited', postId: '7' },
    { kind: 'removed', postId: '7' },
  ] as const) {
    const { cache, put, ageOf } = cacheAtZero()
    put('/unknown')
    const before = cache.begin()
    cache.invalidate(change)
    cache.put('/posts/7', responseOf('{}', ['7']), before)
    for (const url of ['/posts', '/posts/7', '/unknown']) expect(ageOf(url), url).toBeUndefined()
  }
})

test('a read during which a post was published is cached as a stale one only', () => {
  const { cache, isFresh, ageOf } = cacheAtZero()
  const before = cache.begin()
  cache.invalidate(ADDED)
  cache.put('/', responseOf('{}'), before)
  expect([isFresh('/'), ageOf('/')]).toEqual([false, 0])
})

test('a page stays fresh for a tenth of a second after added posts, but not after an edit of a post on it', () => {
  const { cache, wait, isFresh } = cacheAtZero()
  const page = responseOf('<p>', ['7'], true)
  const put = () => {
    const begin = cache.begin()
    cache.invalidate(ADDED)
    cache.put('/', page, begin)
  }
  put()
  wait(99)
  cache.invalidate(ADDED)
  expect(isFresh('/')).toBe(true)
  wait(1)
  expect(isFresh('/')).toBe(false)
  put()
  cache.invalidate({ kind: 'edited', postId: '7' })
  expect(isFresh('/')).toBe(false)
})

test('a node without the change feed serves stale responses only, and drops them once it is subscribed again', () => {
  const { cache, put, isFresh, ageOf } = cacheAtZero()
  const before = cache.begin()
  cache.setSubscribed(false)
  put('/late')
  expect(isFresh('/posts')).toBe(false)
  expect([ageOf('/posts'), ageOf('/late')]).toEqual([0, undefined])
  cache.setSubscribed(true)
  cache.put('/late', responseOf('{}'), before)
  expect([ageOf('/posts'), ageOf('/late')]).toEqual([undefined, undefined])
})

/** Shared reads of one URL whose ends the test decides. */
function readsOfOneUrl() {
  const cache = new MemoryCache({ clock: () => 0 })
  cache.setSubscribed(true)
  const begun: PromiseWithResolvers<CachedResponse>[] = []
  function make(): Promise<CachedResponse> {
    const read = Promise.withResolvers<CachedResponse>()
    begun.push(read)
    return read.promise
  }
  const read = () => cache.find('/posts', make) ?? cache.start('/posts', make)
  return { cache, begun, read }
}

test('reads after a change wait for one next read', async () => {
  const { cache, begun, read } = readsOfOneUrl()
  const first = read()
  expect(read()).toBe(first)
  cache.invalidate(ADDED)
  const late = [read(), read()]
  cache.invalidate(ADDED)
  late.push(read())
  expect(begun).toHaveLength(1)
  const [before, after] = [responseOf('before'), responseOf('after')]
  begun[0]?.resolve(before)
  expect(await first).toBe(before)
  await expect.poll(() => begun.length).toBe(2)
  begun[1]?.resolve(after)
  for (const response of await Promise.all(late)) expect(response).toBe(after)
  expect(begun).toHaveLength(2)
})

test('a failed read fails for all that share it, and the next one begins', async () => {
  const { cache, begun, read } = readsOfOneUrl()
  const first = read()
  cache.invalidate({ kind: 'edited' })
  const late = read()
  begun[0]?.reject(new Error('away'))
  await expect(first).rejects.toThrow('away')
  await expect.poll(() => begun.length).toBe(2)
  const response = responseOf('after')
  begun[1]?.resolve(response)
  expect(await late).toBe(response)
})
