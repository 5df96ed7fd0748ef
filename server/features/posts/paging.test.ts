import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { FROM_OLDEST } from '../../../contract/constants.ts'
import { oppositeCursor } from '../../../contract/pages.ts'
import type { Post, PostPage } from '../../../contract/posts.ts'
import { seedLikes, seedWall } from '../../testing/seed.ts'
import { appForFile } from '../../testing/test-app.ts'

/** Large enough that pages in its second half are read from the far end. */
const WALL = 3000

const app = await appForFile()
const olga = await app.signUp()
const petr = await app.signUp()
await seedWall(app.db, olga.id, WALL)
await seedLikes(app.db, petr.id)

const wallIds = () =>
  column(sql`SELECT id FROM posts WHERE replied_post_id IS NULL ORDER BY id DESC`)
const likedIds = () =>
  column(sql`SELECT post_id AS id FROM likes WHERE user_id = ${petr.id} ORDER BY likes.id DESC`)

async function column(query: ReturnType<typeof sql>): Promise<string[]> {
  const { rows } = await query.execute(app.db)
  return (rows as { id: string }[]).map(({ id }) => id)
}

async function read(path: string, token?: string): Promise<PostPage> {
  const { status, body } = await app.call('GET', path, { token })
  expect(status).toBe(200)
  return body
}

const ids = (posts: Post[]) => posts.map(({ id }) => id)

type List = { path: string; token?: string | undefined; all: string[]; limit: number }

async function expectEveryPage({ path, token, all, limit }: List): Promise<void> {
  const lastPage = Math.ceil(all.length / limit)
  for (let page = 1; page <= lastPage + 1; page++) {
    const from = (page - 1) * limit
    const expected = all.slice(from, from + limit)
    const found = await read(`${path}limit=${limit}&page=${page}`, token)
    expect(ids(found.posts)).toEqual(expected)
    const hasMore = from + limit < all.length
    expect(found).toMatchObject({ firstPage: 1, lastPage, total: all.length })
    expect(found.nextCursor === null, `page ${page} tells whether there is more`).toBe(!hasMore)
  }
}

type Walk = Omit<List, 'all'> & { from?: string }

async function walk({ path, token, limit, from = '' }: Walk): Promise<string[]> {
  const seen: string[] = []
  for (let cursor: string | null = from; cursor !== null; ) {
    const at: string = cursor === '' ? '' : `&cursor=${cursor}`
    const { posts, nextCursor }: PostPage = await read(`${path}limit=${limit}${at}`, token)
    seen.push(...ids(posts))
    cursor = nextCursor
  }
  return seen
}

test('every page of a wall of 3,000 posts equals the page of a naive query, at limit 50', async () => {
  const all = await wallIds()
  expect(all).toHaveLength(WALL)
  await expectEveryPage({ path: '/posts?', all, limit: 50 })
}, 60_000)

test('the same holds for a limit that does not divide the total, around the middle and the far end', async () => {
  const all = await wallIds()
  for (const page of [31, 32, 45, 46, 47, 48, 60, 90, 91]) {
    const { posts, lastPage } = await read(`/posts?limit=33&page=${page}`)
    expect(ids(posts)).toEqual(all.slice((page - 1) * 33, page * 33))
    expect(lastPage).toBe(91)
  }
})

test('the cursors of a wall of 3,000 posts return the same posts as its pages, and end with null', async () => {
  expect(await walk({ path: '/posts?', limit: 50 })).toEqual(await wallIds())
}, 60_000)

test('a page’s cursor continues after that page, also from the far end', async () => {
  const all = await wallIds()
  for (const page of [1, 20, 21, 45, 59]) {
    const { nextCursor } = await read(`/posts?limit=50&page=${page}`)
    const { posts } = await read(`/posts?limit=50&cursor=${nextCursor}`)
    expect(ids(posts)).toEqual(all.slice(page * 50, (page + 1) * 50))
  }
})

test('each list is read upwards too, from its oldest post and from the edge of a page, the nearest first', async () => {
  const wall = await wallIds()
  const lists = [
    { path: '/posts?', all: wall },
    { path: `/posts?userId=${olga.id}&`, all: wall },
    { path: '/posts?filter=liked&', token: petr.token, all: await likedIds() },
  ]
  for (const { path, token, all } of lists) {
    expect(await walk({ path, token, limit: 50, from: FROM_OLDEST })).toEqual(all.toReversed())
    const { nextCursor } = await read(`${path}limit=50&page=20`, token)
    const cursor = oppositeCursor(nextCursor ?? '')
    const { posts } = await read(`${path}limit=50&cursor=${cursor}`, token)
    expect(ids(posts)).toEqual(all.slice(950, 1000).toReversed())
  }
}, 60_000)

test('one owner’s posts page like the wall, without the replies', async () => {
  const all = await wallIds()
  for (const page of [1, 25, 60]) {
    const { posts, total } = await read(`/posts?userId=${olga.id}&limit=50&page=${page}`)
    expect(ids(posts)).toEqual(all.slice((page - 1) * 50, page * 50))
    expect(total).toBe(WALL)
  }
})

test('3,300 liked posts and replies are ordered by the time of the like, by pages and by cursors', async () => {
  const all = await likedIds()
  expect(all).toHaveLength(WALL + WALL / 10)
  const list = { path: '/posts?filter=liked&', token: petr.token, limit: 50 }
  await expectEveryPage({ ...list, all })
  expect(await walk(list)).toEqual(all)
}, 60_000)

test('own replies and replies to a post page at any depth too', async () => {
  const all = await column(
    sql`SELECT id FROM posts WHERE replied_post_id IS NOT NULL ORDER BY id DESC`,
  )
  await expectEveryPage({ path: '/posts/replies?', token: olga.token, all, limit: 50 })
  await expectEveryPage({ path: '/posts/1/replies?', all, limit: 50 })
})
