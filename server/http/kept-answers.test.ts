import { expect, test } from 'vitest'
import { createKeptAnswers, type KeptAnswer } from './kept-answers.ts'

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
