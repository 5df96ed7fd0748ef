import { expect, test } from 'vitest'
import type { Post } from '../../contract/posts.ts'
import { expectRefusal } from '../testing/expect-refusal.ts'
import { seedWall } from '../testing/seed.ts'
import { appForFile, appForTest, testPerNode } from '../testing/test-app.ts'
import { findInXml, requireAtom, textsInXml } from '../testing/xml.ts'

const ORIGIN = 'https://vslukh.example'
const HOSTILE = '</entry>]]></content> & &lt;\n<script>alert(1)</script> "😀" \u2028'

const app = await appForFile({ config: { publicUrl: ORIGIN } })
const olga = await app.signUp()

async function read(path: string, init: RequestInit = {}, url = app.url) {
  const answer = await fetch(url + path, init)
  return { status: answer.status, headers: answer.headers, body: await answer.text() }
}

/** The href of the feed's own link with a relation. */
function linkOf(xml: string, rel: string): string | undefined {
  return findInXml(xml, `/atom:feed/atom:link[@rel="${rel}"]`)[0]?.attributes.href
}

const PARTS = {
  id: 'atom:id',
  title: 'atom:title',
  author: 'atom:author/atom:name',
  content: 'atom:content',
  published: 'atom:published',
  url: 'atom:link[@rel="alternate"]/@href',
}

/** What an Atom feed says of each post. */
function entriesOf(xml: string): Record<keyof typeof PARTS, string>[] {
  const entries = textsInXml(xml, '//atom:entry/atom:id').map(() => ({}) as Record<string, string>)
  for (const [name, path] of Object.entries(PARTS)) {
    const texts = textsInXml(xml, `//atom:entry/${path}`)
    for (const [n, entry] of entries.entries()) entry[name] = texts[n] ?? ''
  }
  return entries as Record<keyof typeof PARTS, string>[]
}

function entryOf({ id, owner, created_at }: Post, texts: { title: string; content: string }) {
  const url = `${ORIGIN}/posts/${id}`
  const published = new Date(created_at * 1000).toISOString()
  return { id: url, url, author: owner.username, published, ...texts }
}

test('/feed.atom is the wall as Atom, with absolute URLs and whole texts', async () => {
  const plain = await app.publish(olga, 'Просто запись')
  const hostile = await app.publish(olga, HOSTILE)
  await app.reply(olga, plain.id, 'Ответы не стоят на стене')
  const { status, headers, body } = await read('/feed.atom?utm_source=reader')
  expect(status).toBe(200)
  expect(headers.get('content-type')).toBe('application/xml; charset=utf-8')
  requireAtom(body)
  expect(textsInXml(body, '/atom:feed/atom:title')).toEqual(['Стена - Вслух'])
  expect(textsInXml(body, '/atom:feed/atom:id')).toEqual([`${ORIGIN}/feed.atom`])
  expect(linkOf(body, 'self')).toBe(`${ORIGIN}/feed.atom`)
  expect(linkOf(body, 'alternate')).toBe(`${ORIGIN}/`)
  expect(linkOf(body, 'next')).toBeUndefined()
  const [newest, next] = entriesOf(body)
  expect(newest).toEqual(
    entryOf(hostile, {
      title: `${olga.username}: </entry>]]></content> & &lt; <script>alert(1)</script> "😀"`,
      content: '</entry>]]></content> & &lt;<script>alert(1)</script> "😀"',
    }),
  )
  const texts = { title: `${olga.username}: Просто запись`, content: 'Просто запись' }
  expect(next).toEqual(entryOf(plain, texts))
  expect(textsInXml(body, '/atom:feed/atom:updated')).toEqual([newest?.published])
})

const atOnce = testPerNode('what visitors of another node see some milliseconds later')

atOnce('/feed.json is the wall as JSON Feed', async () => {
  const { id } = await app.publish(olga)
  const { headers, body } = await read('/feed.json')
  expect(headers.get('content-type')).toBe('application/feed+json; charset=utf-8')
  const feed = JSON.parse(body)
  expect(feed).toMatchObject({ home_page_url: `${ORIGIN}/`, feed_url: `${ORIGIN}/feed.json` })
  expect(feed.items[0].url).toBe(`${ORIGIN}/posts/${id}`)
})

atOnce(
  '/posts/:id/replies.atom are the replies to a post; a deleted or unknown one is a 404',
  async () => {
    const post = await app.publish(olga, 'О чём речь?')
    const path = `/posts/${post.id}/replies.atom`
    const empty = await read(path)
    requireAtom(empty.body)
    expect(textsInXml(empty.body, '/atom:feed/atom:updated')).toEqual([
      new Date(post.created_at * 1000).toISOString(),
    ])
    const answer = await app.reply(olga, post.id, 'Об этом')
    const { body } = await read(path)
    requireAtom(body)
    expect(textsInXml(body, '/atom:feed/atom:title')).toEqual([
      `Ответы на запись ${olga.username}: О чём речь? - Вслух`,
    ])
    expect(linkOf(body, 'self')).toBe(ORIGIN + path)
    expect(linkOf(body, 'alternate')).toBe(`${ORIGIN}/posts/${post.id}`)
    const texts = { title: `${olga.username}: Об этом`, content: 'Об этом' }
    expect(entriesOf(body)).toEqual([entryOf(answer, texts)])

    await app.call('DELETE', `/posts/${post.id}`, { token: olga.token })
    for (const gone of [path, '/posts/999999/replies.atom', '/posts/abc/replies.atom']) {
      const { status, body: refusal } = await read(gone)
      expectRefusal({ status, body: JSON.parse(refusal) }, 'POST_NOT_FOUND')
    }
  },
)

test('every page of a feed leads to the next, until all posts were seen once', async () => {
  const other = await appForTest({ config: { publicUrl: ORIGIN } })
  await seedWall(other.db, (await other.signUp()).id, 120)
  const seen: string[] = []
  let path: string | undefined = '/feed.atom'
  let pages = 0
  while (path !== undefined && pages++ < 5) {
    const { body } = await read(path, {}, other.url)
    requireAtom(body)
    expect(textsInXml(body, '/atom:feed/atom:id')).toEqual([`${ORIGIN}/feed.atom`])
    expect(linkOf(body, 'self')).toBe(ORIGIN + path)
    seen.push(...entriesOf(body).map(({ id }) => id))
    path = linkOf(body, 'next')?.slice(ORIGIN.length)
  }
  expect(pages).toBe(3)
  expect(seen).toHaveLength(120)
  expect(new Set(seen).size).toBe(120)
  const json = JSON.parse((await read('/feed.json', {}, other.url)).body)
  expect(json.next_url).toMatch(`${ORIGIN}/feed.json?cursor=`)
})

test('an author’s feed has their posts, without their replies', async () => {
  const petr = await app.signUp()
  const { id, owner } = await app.publish(petr, 'Только моё')
  await app.reply(petr, id, 'Не в ленте')
  await app.publish(olga, 'Чужое')
  const { body } = await read(`/users/${owner.username}/posts.atom`)
  await requireAtom(body)
  expect(entriesOf(body).map(({ content }) => content)).toEqual(['Только моё'])
  expect(linkOf(body, 'alternate')).toBe(`${ORIGIN}/users/${owner.username}`)
  expect((await read('/users/no_such_author/posts.atom')).status).toBe(404)
})

test('a malformed cursor is refused, and an unknown feed is a 404', async () => {
  for (const query of ['cursor=abc', 'cursor=', 'cursor=1&cursor=2']) {
    const { status, body } = await read(`/feed.atom?${query}`)
    expectRefusal({ status, body: JSON.parse(body) }, 'INVALID_REQUEST')
  }
  for (const path of ['/feed.rss', '/posts/1/replies.json']) {
    expect((await read(path)).status).toBe(404)
  }
})

atOnce('a reader that has the newest feed gets 304 until there is a new post', async () => {
  const { id } = await app.publish(olga)
  for (const path of ['/feed.atom', '/feed.json', `/posts/${id}/replies.atom`]) {
    const headers = { 'accept-encoding': 'identity' }
    const first = await read(path, { headers })
    const etag = first.headers.get('etag') ?? ''
    const again = await read(path, { headers: { ...headers, 'if-none-match': etag } })
    expect([again.status, again.body, again.headers.get('etag')]).toEqual([304, '', etag])
    const head = await read(path, { method: 'HEAD', headers })
    expect([head.status, head.body, head.headers.get('etag')]).toEqual([200, '', etag])

    await app.reply(olga, id)
    await app.publish(olga)
    expect((await read(path, { headers: { 'if-none-match': etag } })).status).toBe(200)
  }
})

const perNode = testPerNode('limits counted in memory, by each node for itself')

perNode('feeds are charged to the limit on a visitor’s calls', async () => {
  const strict = await appForTest({ config: { rateLimitScale: 1 / 1000 } })
  const paths = ['/feed.atom', '/feed.json', '/posts/1/replies.atom', '/feed.atom']
  const statuses: number[] = []
  for (const path of paths) statuses.push((await read(path, {}, strict.url)).status)
  expect(statuses).toEqual([200, 200, 404, 429])
})
