import { expect, test } from 'vitest'
import { createKeptAnswers, type KeptAnswer } from './cache.ts'

const answerOf = (body: string): KeptAnswer => ({
  route: '/posts',
  body: Buffer.from(body),
  etag: '"x"',
  pieces: [body],
  postIds: [],
  headers: null,
})

/** How many of so many answers are still kept in a store of 100 KB. */
function countKept(count: number, urlOf: (n: number) => string, body: string): number {
  const kept = createKeptAnswers({ maxBytes: 100_000 })
  kept.setHearing(true)
  const urls = Array.from({ length: count }, (_, n) => urlOf(n))
  for (const url of urls) kept.keep(url, answerOf(body), kept.stamp())
  return urls.filter((url) => kept.forVisitor(url)).length
}

test('memory is bounded by what the answers take, and by what their URLs do', () => {
  expect(countKept(1000, (n) => `/posts/${n}`, 'x'.repeat(9000))).toBe(3)
  expect(countKept(1000, (n) => `/posts/${n}?${'&'.repeat(15_000)}`, '{}')).toBe(3)
})

/** A store on a clock that the test moves, with one answer just kept. */
function keptAtZero() {
  let ms = 0
  const kept = createKeptAnswers({ clock: () => ms })
  kept.setHearing(true)
  kept.keep('/posts', answerOf('{}'), kept.stamp())
  return { kept, wait: (by: number) => (ms += by) }
}

test('for a second an answer is given again; while the database is away, for ten minutes', () => {
  const { kept, wait } = keptAtZero()
  wait(1000)
  expect(kept.forVisitor('/posts')).toBeDefined()
  wait(1)
  expect(kept.forVisitor('/posts')).toBeUndefined()
  wait(598_999)
  expect(kept.duringOutage('/posts')?.age).toBe(600)
  wait(1)
  expect(kept.duringOutage('/posts')).toBeUndefined()
})

test('what was read before a change of posts is never given again', () => {
  const { kept } = keptAtZero()
  kept.postsChanged()
  expect(kept.duringOutage('/posts')).toBeUndefined()
})

test('a node that no longer hears of the others gives only what an outage excuses, and once it hears again nothing from before', () => {
  const { kept } = keptAtZero()
  kept.setHearing(false)
  expect(kept.forVisitor('/posts')).toBeUndefined()
  expect(kept.duringOutage('/posts')).toBeDefined()
  kept.setHearing(true)
  expect(kept.duringOutage('/posts')).toBeUndefined()
})
