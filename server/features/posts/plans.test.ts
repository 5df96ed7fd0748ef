import { sql } from 'kysely'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { FROM_OLDEST } from '../../../contract/constants.ts'
import { fillDatabase } from '../../testing/big-data.ts'
import type { TestUser } from '../../testing/client.ts'
import { captureStatements, type PlanNode, settledPlan } from '../../testing/plans.ts'
import { startTestApp, type TestApp } from '../../testing/test-app.ts'

const SIZE = { users: 10_000, posts: 100_000, likes: 200_000 }
const LIMIT = 10

let app: TestApp
let client: pg.Client
/** The user with most posts, replies and likes. */
let busy: TestUser
/** The post with most replies. */
let hotId = ''
beforeAll(async () => {
  app = await startTestApp()
  client = new pg.Client({ connectionString: app.databaseUrl })
  await client.connect()
  await fillDatabase(app.databaseUrl, SIZE)
  busy = await app.signIn('big1@example.org')
  const { rows } = await sql<{ id: string }>`
    SELECT id FROM posts ORDER BY replies_count DESC LIMIT 1`.execute(app.db)
  hotId = rows[0]?.id ?? ''
}, 120_000)
afterAll(async () => {
  await client.end()
  await app.close()
})

/** The plans of every statement about posts that a call sends, by the nodes in them. */
async function plansOf(path: string, token?: string): Promise<PlanNode[]> {
  const sent = await captureStatements(async () => {
    const { status } = await app.call('GET', path, { token })
    expect(status).toBe(200)
  })
  const aboutPosts = sent.filter(({ text }) => /\b(?:posts|likes|\w+_totals)\b/.test(text))
  expect(aboutPosts.length, 'statements were captured').toBeGreaterThan(0)
  const nodes: PlanNode[] = []
  for (const { text, values } of aboutPosts) {
    nodes.push(...(await settledPlan(client, { text: withoutState(text), values })))
  }
  return nodes
}

/** Each state counts the same hundred rows, whatever is read. */
const withoutState = (text: string) => text.replaceAll(/\(SELECT sum\(n\) .*? newest\)/g, 'NULL')

const rowsMade = (node: PlanNode) => node['Actual Rows'] * node['Actual Loops']
const isScanOf = (node: PlanNode) =>
  node['Node Type'] === 'Seq Scan' &&
  ['posts', 'likes', 'users'].includes(node['Relation Name'] ?? '')
const isBigSort = (node: PlanNode) =>
  /Sort/.test(node['Node Type']) && (node.Plans ?? []).some((input) => rowsMade(input) > LIMIT + 1)

type List = [name: string, path: () => string, token: () => string | undefined]
const visitor = () => undefined
const user = () => busy.token

const FIRST_PAGES: List[] = [
  ['the wall', () => '/posts?', visitor],
  ['the wall for a user', () => '/posts?', user],
  ['one owner’s posts', () => `/posts?userId=${busy.id}&`, user],
  ['liked posts', () => '/posts?filter=liked&', user],
  ['own replies', () => '/posts/replies?', user],
  ['replies to a post', () => `/posts/${hotId}/replies?`, user],
]

describe('on 100,000 posts and 200,000 likes, skewed', () => {
  test.each(FIRST_PAGES)(
    '%s: the first page reads no table through, sorts no more than it shows and touches few rows',
    async (_name, path, token) => {
      const nodes = await plansOf(`${path()}limit=${LIMIT}`, token())
      expect(nodes.filter(isScanOf)).toEqual([])
      expect(nodes.filter(isBigSort)).toEqual([])
      expect(Math.max(...nodes.map(touched))).toBeLessThanOrEqual(ENOUGH)
    },
  )

  test.each(FIRST_PAGES)(
    '%s: a cursor deep in the list costs no more than the first page',
    async (_name, path, token) => {
      const { body } = await app.call('GET', `${path()}limit=1&page=600`, { token: token() })
      expect(body.posts).toHaveLength(1)
      expect(body.nextCursor).not.toBeNull()
      const nodes = await plansOf(`${path()}limit=${LIMIT}&cursor=${body.nextCursor}`, token())
      expect(nodes.filter(isScanOf)).toEqual([])
      expect(nodes.filter(isBigSort)).toEqual([])
      expect(Math.max(...nodes.map(touched))).toBeLessThanOrEqual(ENOUGH)
    },
  )

  test.each(FIRST_PAGES)(
    '%s: pages before, at and past the middle are read along an index, without a sort',
    async (_name, path, token) => {
      const { body } = await app.call('GET', `${path()}limit=${LIMIT}`, { token: token() })
      expect(body.lastPage).toBeGreaterThan(60)
      const middle = Math.floor(body.lastPage / 2)
      for (const page of [middle - 1, middle, middle + 2, body.lastPage - 1, body.lastPage, 1e9]) {
        const nodes = await plansOf(`${path()}limit=${LIMIT}&page=${page}`, token())
        expect(nodes.filter(isScanOf), `page ${page}`).toEqual([])
        expect(nodes.filter(isBigSort), `page ${page}`).toEqual([])
      }
    },
  )

  test('a list from its oldest post on is read along the same index', async () => {
    for (const [name, path, token] of FIRST_PAGES) {
      const nodes = await plansOf(`${path()}limit=${LIMIT}&cursor=${FROM_OLDEST}`, token())
      expect(nodes.filter(isScanOf), name).toEqual([])
      expect(nodes.filter(isBigSort), name).toEqual([])
      expect(Math.max(...nodes.map(touched)), name).toBeLessThanOrEqual(ENOUGH)
    }
  })

  test('the posts above a reply are found by one lookup by key for each', async () => {
    let id = hotId
    for (let step = 1; step <= 5; step++) id = (await app.reply(busy, id)).id
    const nodes = await plansOf(`/posts/${id}/ancestors`, busy.token)
    expect(nodes.filter(isScanOf)).toEqual([])
    expect(Math.max(...nodes.map(touched))).toBeLessThanOrEqual(6)
  })

  test('one post and its replied post are found by keys alone', async () => {
    const { rows } = await sql<{ id: string }>`SELECT max(id) AS id FROM posts
      WHERE replied_post_id IS NOT NULL`.execute(app.db)
    const nodes = await plansOf(`/posts/${rows[0]?.id}`, busy.token)
    expect(nodes.filter(isScanOf)).toEqual([])
    expect(Math.max(...nodes.map(touched))).toBeLessThanOrEqual(2)
  })

  test('a sitemap reads its own range of posts, and the index of sitemaps a hundred rows of each', async () => {
    const nodesOf = async (path: string) => {
      const [statement, ...others] = await captureStatements(() => fetch(app.url + path))
      expect(others).toEqual([])
      return statement ? settledPlan(client, statement) : []
    }
    const sitemap = await nodesOf('/sitemap/7.xml')
    expect(sitemap.filter(isScanOf)).toEqual([])
    expect(Math.max(...sitemap.map(touched))).toBe(5000)
    const index = await nodesOf('/sitemap.xml')
    expect(index.filter(isScanOf)).toEqual([])
    expect(Math.max(...index.map(touched))).toBeLessThanOrEqual(100 * (SIZE.posts / 5000 + 1))
  })
})

/** The rows of a page and one more. The wall's total is a sum of 16 rows. */
const ENOUGH = 2 * (LIMIT + 1)

const touched = (node: PlanNode) =>
  rowsMade(node) + (node['Rows Removed by Filter'] ?? 0) * node['Actual Loops']
