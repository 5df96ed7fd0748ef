import pg from 'pg'
import { afterAll, expect, test } from 'vitest'
import { FROM_OLDEST, PAGE_SIZE_MAX } from '../../../contract/constants.ts'
import type { Post } from '../../../contract/posts.ts'
import { clientHeaders } from '../../testing/calls/sign-in-calls.ts'
import { fillDatabase } from '../../testing/database/big-data.ts'
import { captureStatements, lastingPlan, type PlanNode } from '../../testing/database/plans.ts'
import { expectRefusal } from '../../testing/http/expect-refusal.ts'
import { appForFile } from '../../testing/test-app.ts'
import { claimReplyMails } from '../answers/answers.repository.ts'
import { listAddress, PAGED_LISTS } from './lists.fixture.ts'

/** `PLANNED_POSTS=1000000 npm test -- plans` takes two minutes, see docs/performance.md. */
const POSTS = Number(process.env.PLANNED_POSTS ?? 100_000)
const SIZE = { users: POSTS / 10, posts: POSTS, likes: POSTS * 2 }
/** As many of each kind: replies, mentions, and replies to muted posts. */
const RECEIVED = POSTS * 0.03
const LIMIT = 10

const app = await appForFile({ config: { trustProxy: ['127.0.0.1'] } })
const client = new pg.Client({ connectionString: app.databaseUrl })
await client.connect()
afterAll(() => client.end())
await fillDatabase(app.databaseUrl, SIZE)
/** The user with most posts, replies and likes. */
const busy = await app.signIn('big1@example.org')
/** The post with most replies. */
const [hot] = await app.sql<{ id: string }>`
  SELECT id FROM posts ORDER BY replies_count DESC LIMIT 1`
const hotId = hot?.id ?? ''

await receiveMany(busy.id)

async function receiveMany(userId: string): Promise<void> {
  await app.sql`INSERT INTO answer_states (user_id, last_no) VALUES (${userId}, ${3 * RECEIVED})`
  await app.sql`UPDATE posts SET recipient_id = ${userId}, received_no = 3 * n FROM (
    SELECT id AS reply, row_number() OVER (ORDER BY id) AS n FROM posts
    WHERE replied_post_id IS NOT NULL AND owner_id <> ${userId} ORDER BY id LIMIT ${RECEIVED}
  ) first_ones WHERE id = reply`
  await app.sql`INSERT INTO mentions (post_id, user_id, names, received_no)
    SELECT id, ${userId}, ARRAY['big_1'], 3 * row_number() OVER (ORDER BY id) - 1 FROM posts
    WHERE replied_post_id IS NULL AND owner_id <> ${userId} ORDER BY id LIMIT ${RECEIVED}`
  await app.sql`INSERT INTO muted_replies (recipient_id, received_no, post_id)
    SELECT ${userId}, 3 * row_number() OVER (ORDER BY id DESC) - 2, id FROM posts
    WHERE replied_post_id IS NOT NULL AND recipient_id IS NULL AND owner_id <> ${userId}
    ORDER BY id DESC LIMIT ${RECEIVED}`
  await app.sql`ANALYZE posts, mentions, muted_replies, answer_states`
}

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
    nodes.push(...(await lastingPlan(client, { text, values })))
  }
  return nodes
}

/** The posts of a page of a feed, and one more. */
const FEED_ROWS = PAGE_SIZE_MAX + 1

/** The rows of a page and one more. The wall's total is a sum of 16 rows. */
const ENOUGH = 2 * (LIMIT + 1)

const rowsMade = (node: PlanNode) => node['Actual Rows'] * node['Actual Loops']
const touched = (node: PlanNode) =>
  rowsMade(node) + (node['Rows Removed by Filter'] ?? 0) * node['Actual Loops']
/** It finds the rows that the scan above it touches. */
const isHalfOfScan = (node: PlanNode) => node['Node Type'] === 'Bitmap Index Scan'
/** The rows of `wall_totals`, which a total of the wall adds up. */
const SMALL_TABLE = 16
const isScanOfTable = (node: PlanNode) =>
  node['Node Type'] === 'Seq Scan' && touched(node) > SMALL_TABLE
const isBigSort = (node: PlanNode) =>
  /Sort/.test(node['Node Type']) && (node.Plans ?? []).some((input) => rowsMade(input) > LIMIT + 1)

/**
 * No table is read through, no more is sorted than shown, and no step touches more rows, but for one
 * step for each of the tables whose rows a total counts.
 */
function expectCheap(nodes: PlanNode[], most: number, what = '', counted: string[] = []): void {
  expect(nodes.filter(isScanOfTable), what).toEqual([])
  expect(nodes.filter(isBigSort), what).toEqual([])
  const long = nodes.filter((node) => touched(node) > most && !isHalfOfScan(node))
  expect(long.map((node) => node['Relation Name']).sort(), what).toEqual(counted)
}

test.each(Object.entries(PAGED_LISTS))(
  '%s: the first page and one by a cursor touch few rows; other pages are read along an index, without a sort',
  async (call, { rows = ENOUGH, counts = [] }) => {
    for (const reader of call === 'GET /posts' ? [undefined, busy] : [busy]) {
      const address = listAddress(call, busy.id, hotId)
      const { nextCursor } = await app.read(`${address}limit=1&page=600`, reader)
      expect(nextCursor).not.toBeNull()
      for (const place of ['', `&cursor=${nextCursor}`, `&cursor=${FROM_OLDEST}`]) {
        const nodes = await plansOf(`${address}limit=${LIMIT}${place}`, reader?.token)
        expectCheap(nodes, rows, place, counts)
      }
      const { lastPage } = await app.read(`${address}limit=${LIMIT}`, reader)
      expect(lastPage).toBeGreaterThan(60)
      const middle = Math.floor(lastPage / 2)
      for (const page of [middle - 1, middle + 2, lastPage, 1e9]) {
        const nodes = await plansOf(`${address}limit=${LIMIT}&page=${page}`, reader?.token)
        expectCheap(nodes, Number.POSITIVE_INFINITY, `page ${page}`)
      }
    }
  },
)

test('the unread mark and the feed of what a user received touch few rows', async () => {
  const unread = await plansOf('/users/current/received', busy.token)
  expect(unread.filter(isScanOfTable)).toEqual([])
  expect(Math.max(...unread.map(touched))).toBeLessThanOrEqual(200)
  const { nextCursor } = await app.read('/posts/replies/received?limit=1&page=600', busy)
  const feed: PlanNode[] = []
  const read = () => fetch(`${app.url}/users/big_1/received.atom?cursor=${nextCursor}`)
  for (const sent of await captureStatements(read)) feed.push(...(await lastingPlan(client, sent)))
  expect(feed.filter(isScanOfTable)).toEqual([])
  expect(Math.max(...feed.map(touched))).toBeLessThanOrEqual(2 * FEED_ROWS)
})

test('the job that mails what was received looks up the unread of one person after the other', async () => {
  await app.sql`INSERT INTO answer_states (user_id, last_no) SELECT id, 5 FROM users ON CONFLICT DO NOTHING`
  await app.sql`ANALYZE answer_states`
  const sent = await captureStatements(() =>
    app.db.transaction().execute((tx) => claimReplyMails(tx, 200)),
  )
  expect(sent).not.toEqual([])
  for (const one of sent) expect((await lastingPlan(client, one)).filter(isScanOfTable)).toEqual([])
})

test('names are suggested from an index, and the people of a thread from its nearest posts', async () => {
  const own = await plansOf(`/users/suggestions?start=big_1&postId=${hotId}`, busy.token)
  expect(own.filter(isScanOfTable)).toEqual([])
  // The authors of a hundred replies to each of three posts, or two hundred names.
  expect(Math.max(...own.map(touched))).toBeLessThanOrEqual(300)
})

test.each(['own', 'liked'])(
  'a search in what is %s touches no other posts, however frequent its words; of a user who has thousands, the newest',
  async (scope) => {
    await client.query('SET enable_seqscan = off')
    const some = await app.signIn(`big${SIZE.users / 200}@example.org`)
    for (const [user, most] of [
      [some, 1000],
      [busy, 2 * 8192],
    ] as const) {
      for (const q of ['запись', '77777', '"запись 777"']) {
        const path = `/posts/search?scope=${scope}&q=${encodeURIComponent(q)}`
        const nodes = await plansOf(path, user.token)
        expect(nodes.filter(isScanOfTable), q).toEqual([])
        const rows = nodes.filter((node) => !isHalfOfScan(node)).map(touched)
        expect(Math.max(...rows), q).toBeLessThanOrEqual(most)
      }
    }
    await client.query('RESET enable_seqscan')
  },
)

test('the clarifications of a page, and of the posts that it quotes, are found by keys alone', async () => {
  const clarified = `SELECT id FROM posts WHERE replied_post_id IS NULL AND owner_id = ${busy.id}
    ORDER BY id DESC LIMIT ${LIMIT}`
  await client.query(`INSERT INTO posts (owner_id, text, replied_post_id, parent_post_id)
    SELECT ${busy.id}, 'Уточнение', id, id FROM (${clarified}) newest ORDER BY id`)
  await client.query(`UPDATE posts SET clarification_id = reply.id FROM posts reply
    WHERE posts.id IN (${clarified}) AND reply.replied_post_id = posts.id
      AND reply.text = 'Уточнение'`)
  for (const path of [`/posts?userId=${busy.id}&limit=${LIMIT}`, `/posts/replies?limit=${LIMIT}`]) {
    const { posts } = await app.read(path, busy)
    const shown = (posts as Post[]).map((post) => post.actions.replied_post ?? post)
    expect(shown.filter((post) => post.clarification)).toHaveLength(LIMIT)
    expectCheap(await plansOf(path, busy.token), ENOUGH)
  }
})

test('one post, its replied post and each of the posts above it are found by keys alone', async () => {
  let id = hotId
  for (let step = 1; step <= 5; step++) id = (await app.reply(busy, id)).id
  expectCheap(await plansOf(`/posts/${id}/ancestors`, busy.token), 6)
  expectCheap(await plansOf(`/posts/${id}`, busy.token), 2)
})

test('a sitemap reads its own range of posts, and the index of sitemaps a hundred rows of each', async () => {
  const nodesOf = async (path: string) => {
    const [statement, ...others] = await captureStatements(() => fetch(app.url + path))
    expect(others).toEqual([])
    return statement ? lastingPlan(client, statement) : []
  }
  const sitemap = await nodesOf('/sitemap/7.xml')
  expect(sitemap.filter(isScanOfTable)).toEqual([])
  expect(Math.max(...sitemap.map(touched))).toBeCloseTo(5000, 0)
  const index = await nodesOf('/sitemap.xml')
  expect(index.filter(isScanOfTable)).toEqual([])
  expect(Math.max(...index.map(touched))).toBeLessThanOrEqual(100 * (SIZE.posts / 5000 + 1))
})

/** This page is more than 5,000 posts from either end. */
const FIRST_DEEP_PAGE = 600

const readPages = (count: number, first: number, ip: string) =>
  Array.from({ length: count }, (_, n) =>
    app.call('GET', `/posts?page=${first + n}`, clientHeaders(ip)),
  )

test('of 64 deep pages that one network asks for at once some are refused, and other people’s deep and first pages are served meanwhile', async () => {
  const asked = readPages(64, FIRST_DEEP_PAGE, '192.0.2.1')
  await Promise.any(asked)
  const others = readPages(1, FIRST_DEEP_PAGE + 100, '192.0.2.3')
  // As many as find a slot at once: beside busy tests others could wait in vain.
  const shallow = await Promise.all(readPages(16, 1, '192.0.2.2'))
  const served = [...shallow, ...(await Promise.all(others))]
  expect(new Set(served.map(({ status }) => status))).toEqual(new Set([200]))
  const deep = await Promise.all(asked)
  const refused = deep.filter(({ status }) => status !== 200)
  expect(refused.length).toBeGreaterThan(0)
  expect(refused.length).toBeLessThan(deep.length)
  for (const answer of refused) {
    expectRefusal(answer, 'UNAVAILABLE')
    expect(answer.headers.get('retry-after')).toMatch(/^[1-9]\d*$/)
  }
})
