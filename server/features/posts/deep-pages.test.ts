import { sql } from 'kysely'
import { expect, test } from 'vitest'
import type { PostPage } from '../../../contract/posts.ts'
import { fillDatabase } from '../../testing/big-data.ts'
import type { TestAnswer } from '../../testing/client.ts'
import { expectRefusal } from '../../testing/expect-refusal.ts'
import { countAtOnce } from '../../testing/plans.ts'
import { from } from '../../testing/sign-in-calls.ts'
import { appForFile } from '../../testing/test-app.ts'

const DEEP_AT_ONCE = 2
const ANOTHER = '192.0.2.2'
/** On a wall of 18,000 posts, this page is more than 5,000 posts from either end. */
const FIRST_DEEP_PAGE = 600

const app = await appForFile({ config: { trustProxy: ['127.0.0.1'] } })
await fillDatabase(app.databaseUrl, { users: 100, posts: 30_000, likes: 0 })

const read = (page: number, ip = '192.0.2.1'): Promise<TestAnswer> =>
  app.call('GET', `/posts?page=${page}`, from(ip))
const pages = (count: number) => Array.from({ length: count }, (_, n) => FIRST_DEEP_PAGE + n * 7)

test('64 concurrent deep pages are read two at a time or refused, and other people’s first pages are served meanwhile', async () => {
  const { result, most } = await countAtOnce(
    ({ text, values }) => text.includes('OFFSET') && values.some((value) => Number(value) > 5000),
    async () => {
      const deep = pages(64).map((page) => read(page))
      // As many as find a slot at once: beside busy tests others could wait in vain.
      const shallow = await Promise.all(Array.from({ length: 16 }, (_, n) => read(1 + n, ANOTHER)))
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

test('a page at any depth equals the same page of a naive query', async () => {
  const { rows } = await sql<{ id: string }>`
    SELECT id FROM posts WHERE replied_post_id IS NULL ORDER BY id DESC`.execute(app.db)
  for (const page of pages(8)) {
    const { posts }: PostPage = (await read(page)).body
    const expected = rows.slice((page - 1) * 10, page * 10)
    expect(posts.map(({ id }) => id)).toEqual(expected.map(({ id }) => id))
  }
})
