import { expect, test } from 'vitest'
import { createMemoryCache } from './cache.ts'
import { toCachedResponse } from './cached-response.ts'

const responseOf = (body: string, postIds?: string[]) =>
  toCachedResponse({
    route: '/posts',
    type: 'application/json',
    headers: {},
    body: Buffer.from(body),
    ...(postIds && { postIds }),
  })

/** A cache on a clock that the test moves, with one response just cached, which shows the post 7. */
function cacheAtZero(maxBytes?: number) {
  let ms = 0
  const cache = createMemoryCache({ clock: () => ms, ...(maxBytes && { maxBytes }) })
  cache.setSubscribed(true)
  const put = (url: string, response = responseOf('{}')) =>
    cache.put(url, response, cache.generation())
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
  'memory is bounded by the size of %s, and a crawler does not push out what is read again',
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

test('a response is served for a second, and may be served as a stale one for ten minutes', () => {
  const { wait, isFresh, ageOf } = cacheAtZero()
  wait(1000)
  expect(isFresh('/posts')).toBe(true)
  wait(1)
  expect([isFresh('/posts'), ageOf('/posts')]).toEqual([false, 1])
  wait(598_999)
  expect(ageOf('/posts')).toBe(600)
  wait(1)
  expect(ageOf('/posts')).toBeUndefined()
})

const STATE = { posts_added: '7', posts_changed: null }

test('a read that shows a change of which the node was not told begins a generation; what is cached stays as stale', () => {
  for (const changed of [{ posts_added: '15' }, { posts_changed: '1' }]) {
    const { cache, isFresh, ageOf } = cacheAtZero()
    expect([cache.knowsState(), cache.hasShown(STATE)]).toEqual([false, false])
    cache.noteState(STATE, cache.generation())
    cache.noteState({ ...STATE }, cache.generation())
    expect([cache.knowsState(), cache.hasShown({ ...STATE })]).toEqual([true, true])
    expect(isFresh('/posts')).toBe(true)
    const generation = cache.generation()
    expect(cache.hasShown({ ...STATE, ...changed })).toBe(false)
    cache.noteState({ ...STATE, ...changed }, generation)
    expect([cache.isCurrent(generation), isFresh('/posts'), ageOf('/posts')]).toEqual([
      false,
      false,
      0,
    ])
  }
})

test('after a change of which the node was told, the first read shows the state: its response is cached', () => {
  for (const change of ['posts added', 'posts changed 8'] as const) {
    const { cache, isFresh } = cacheAtZero()
    cache.noteState(STATE, cache.generation())
    const older = cache.generation()
    cache.invalidate(change)
    // It began before the change, and its answer is no proof of the state after it.
    cache.noteState(STATE, older)
    const later = change === 'posts added' ? { posts_added: '15' } : { posts_changed: '1' }
    expect(cache.knowsState()).toBe(false)
    const generation = cache.generation()
    cache.noteState({ ...STATE, ...later }, generation)
    cache.put('/posts', responseOf('{}'), generation)
    expect(isFresh('/posts')).toBe(true)
  }
})

test('nobody joins a read that began before the state was known: it may be older than what was shown since', () => {
  const { cache } = cacheAtZero()
  const generation = cache.generation()
  expect(cache.isCurrent(generation)).toBe(true)
  cache.noteState(STATE, cache.generation())
  expect(cache.isCurrent(generation)).toBe(false)
})

test('a publication of which the node was told hides no edit of which it was not', () => {
  const { cache, put } = cacheAtZero()
  cache.noteState(STATE, cache.generation())
  const isPage = { ...responseOf('<p>'), isPage: true }
  put('/', isPage)
  cache.invalidate('posts added')
  expect(cache.get('/')).toBe(isPage)
  cache.noteState({ posts_added: '15', posts_changed: '1' }, cache.generation())
  expect(cache.get('/')).toBeUndefined()
})

test.each(['posts added', 'posts changed 8'] as const)(
  '«%s» ends the generation of a response that does not show the post; it stays as a stale one',
  (change) => {
    const { cache, isFresh, ageOf } = cacheAtZero()
    cache.invalidate(change)
    expect([isFresh('/posts'), ageOf('/posts')]).toEqual([false, 0])
  },
)

test('what shows a post that was edited or removed, or may, is served no longer at all; nor is a read that began before', () => {
  for (const change of ['posts', 'posts changed 7'] as const) {
    const { cache, put, ageOf } = cacheAtZero()
    put('/unknown')
    const before = cache.generation()
    cache.invalidate(change)
    cache.put('/posts/7', responseOf('{}', ['7']), before)
    for (const url of ['/posts', '/posts/7', '/unknown']) expect(ageOf(url), url).toBeUndefined()
  }
})

test('a read during which a post was published is cached as a stale one only', () => {
  const { cache, isFresh, ageOf } = cacheAtZero()
  const before = cache.generation()
  cache.invalidate('posts added')
  cache.put('/', responseOf('{}'), before)
  expect([isFresh('/'), ageOf('/')]).toEqual([false, 0])
})

test('a page is served for a tenth of a second although posts were added since or while it was made, and not after an edit', () => {
  const { cache, wait, isFresh } = cacheAtZero()
  const page = { ...responseOf('<p>', ['7']), isPage: true }
  const put = () => {
    const generation = cache.generation()
    cache.invalidate('posts added')
    cache.put('/', page, generation)
  }
  put()
  wait(99)
  cache.invalidate('posts added')
  expect(isFresh('/')).toBe(true)
  wait(1)
  expect(isFresh('/')).toBe(false)
  put()
  cache.invalidate('posts changed 8')
  expect(isFresh('/')).toBe(false)
})

test('a node that no longer receives the changes of others serves nothing but stale responses, and none from before once it receives them again', () => {
  const { cache, put, isFresh, ageOf } = cacheAtZero()
  const before = cache.generation()
  cache.setSubscribed(false)
  put('/late')
  expect(isFresh('/posts')).toBe(false)
  expect([ageOf('/posts'), ageOf('/late')]).toEqual([0, undefined])
  cache.setSubscribed(true)
  cache.put('/late', responseOf('{}'), before)
  expect([ageOf('/posts'), ageOf('/late')]).toEqual([undefined, undefined])
})
