import { expect, test } from 'vitest'
import { fillDatabase } from '../../testing/big-data.ts'
import { expectRefusal } from '../../testing/expect-refusal.ts'
import { countAtOnce } from '../../testing/plans.ts'
import { from } from '../../testing/sign-in-calls.ts'
import { appForFile } from '../../testing/test-app.ts'

const DEEP_AT_ONCE = 2
/** On a wall of 18,000 posts, this page is more than 5,000 posts from either end. */
const FIRST_DEEP_PAGE = 600

const app = await appForFile({ config: { trustProxy: ['127.0.0.1'] } })
await fillDatabase(app.databaseUrl, { users: 100, posts: 30_000, likes: 0 })

const readPages = (count: number, first: number, ip: string) =>
  Array.from({ length: count }, (_, n) => app.call('GET', `/posts?page=${first + n}`, from(ip)))

test('64 concurrent deep pages are read two at a time or refused, and other people’s first pages are served meanwhile', async () => {
  const { result, most } = await countAtOnce(
    ({ text, values }) => text.includes('OFFSET') && values.some((value) => Number(value) > 5000),
    async () => {
      const deep = readPages(64, FIRST_DEEP_PAGE, '192.0.2.1')
      // As many as find a slot at once: beside busy tests others could wait in vain.
      const shallow = await Promise.all(readPages(16, 1, '192.0.2.2'))
      return { deep: await Promise.all(deep), shallow }
    },
  )
  expect(most).toBe(DEEP_AT_ONCE)
  expect(new Set(result.shallow.map(({ status }) => status))).toEqual(new Set([200]))
  const refused = result.deep.filter(({ status }) => status !== 200)
  expect(refused.length).toBeGreaterThan(0)
  expect(refused.length).toBeLessThan(result.deep.length)
  for (const answer of refused) {
    expectRefusal(answer, 'UNAVAILABLE')
    expect(answer.headers.get('retry-after')).toMatch(/^[1-9]\d*$/)
  }
})
