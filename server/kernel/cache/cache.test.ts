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
async function cacheAtZero(maxBytes?: number) {
  let ms = 0
  const cache = new MemoryCache({ clock: () => ms, ...(maxBytes && { maxBytes }) })
  cache.setSubscribed(true)
  const put = (url: string, response = responseOf('{}')) => cache.read(url, async () => response)
  await put('/posts', responseOf('{}', ['7']))
  return {
    cache,
    put,
    /** Begins a read of a URL that is not cached; the returned function ends it. */
    begin(url: string, response = responseOf('{}')) {
      const made = Promise.withResolvers<CachedResponse>()
      const read = cache.read(url, () => made.promise)
      return async () => {
        made.resolve(response)
        await read
      }
    },
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
  async (_what, urlOf, body) => {
    const { put, isFresh } = await cacheAtZero(100_000)
    const urls = Array.from({ length: 1000 }, (_, n) => urlOf(n))
    for (const url of urls) {
      await put(url, responseOf(body))
      expect(isFresh('/posts')).toBe(true)
    }
    expect(urls.filter(isFresh)).toEqual(urls.slice(-2))
  },
)

test('a response is served for a second from the begin of its read, and may be served as a stale one for ten minutes', async () => {
  const { begin, wait, isFresh, ageOf } = await cacheAtZero()
  const end = begin('/slow')
  wait(900)
  await end()
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
  async (change) => {
    const { cache, isFresh, ageOf } = await cacheAtZero()
    cache.invalidate(change)
    expect([isFresh('/posts'), ageOf('/posts')]).toEqual([false, 0])
  },
)

test('a response that may show an edited or removed post is not served even as stale, nor is a read that began before', async () => {
  for (const change of [
    { kind: 'edited' },
    { kind: 'edited', postId: '7' },
    { kind: 'removed', postId: '7' },
  ] as const) {
    const { cache, put, begin, ageOf } = await cacheAtZero()
    await put('/unknown')
    const end = begin('/posts/7', responseOf('{}', ['7']))
    cache.invalidate(change)
    await end()
    for (const url of ['/posts', '/posts/7', '/unknown']) expect(ageOf(url), url).toBeUndefined()
  }
})

test('a read during which a post was published is cached as a stale one only', async () => {
  const { cache, begin, isFresh, ageOf } = await cacheAtZero()
  const end = begin('/')
  cache.invalidate(ADDED)
  await end()
  expect([isFresh('/'), ageOf('/')]).toEqual([false, 0])
})

test('a page stays fresh for a tenth of a second after added posts, but not after an edit of a post on it', async () => {
  const { cache, begin, wait, isFresh } = await cacheAtZero()
  const page = responseOf('<p>', ['7'], true)
  const put = () => {
    const end = begin('/', page)
    cache.invalidate(ADDED)
    return end()
  }
  await put()
  wait(99)
  cache.invalidate(ADDED)
  expect(isFresh('/')).toBe(true)
  wait(1)
  expect(isFresh('/')).toBe(false)
  await put()
  cache.invalidate({ kind: 'edited', postId: '7' })
  expect(isFresh('/')).toBe(false)
})

test('a node without the change feed serves stale responses only, and drops them once it is subscribed again', async () => {
  const { cache, put, begin, isFresh, ageOf } = await cacheAtZero()
  const end = begin('/before')
  cache.setSubscribed(false)
  await put('/late')
  expect(isFresh('/posts')).toBe(false)
  expect([ageOf('/posts'), ageOf('/late')]).toEqual([0, undefined])
  cache.setSubscribed(true)
  await end()
  expect([ageOf('/posts'), ageOf('/before')]).toEqual([undefined, undefined])
})

/** Shared reads of one URL whose ends the test decides. */
function readsOfOneUrl() {
  let ms = 0
  const cache = new MemoryCache({ clock: () => ms })
  cache.setSubscribed(true)
  const begun: PromiseWithResolvers<CachedResponse>[] = []
  function make(): Promise<CachedResponse> {
    const read = Promise.withResolvers<CachedResponse>()
    begun.push(read)
    return read.promise
  }
  const read = () => cache.read('/posts', make)
  return { cache, begun, read, wait: (by: number) => (ms += by) }
}

test('reads of one URL at the same time are one read; those after a change share another, and its response stays', async () => {
  const { cache, begun, read } = readsOfOneUrl()
  const early = [read(), read()]
  cache.invalidate(ADDED)
  const late = [read(), read()]
  expect(begun).toHaveLength(2)
  const [before, after] = [responseOf('before'), responseOf('after')]
  begun[1]?.resolve(after)
  for (const response of await Promise.all(late)) expect(response).toBe(after)
  begun[0]?.resolve(before)
  for (const response of await Promise.all(early)) expect(response).toBe(before)
  const cached = read()
  expect(begun).toHaveLength(2)
  expect(await cached).toBe(after)
})

test('a failed read fails for all that share it, and a later read begins anew', async () => {
  const { begun, read } = readsOfOneUrl()
  const shared = [read(), read()]
  begun[0]?.reject(new Error('away'))
  for (const one of shared) await expect(one).rejects.toThrow('away')
  const response = responseOf('after')
  const later = read()
  begun[1]?.resolve(response)
  expect(await later).toBe(response)
})

test('a read that has been in flight for more than a second is shared with no later one', async () => {
  const { begun, read, wait } = readsOfOneUrl()
  const slow = read()
  wait(1001)
  const later = read()
  expect(begun).toHaveLength(2)
  for (const { resolve } of begun) resolve(responseOf('{}'))
  await Promise.all([slow, later])
})
