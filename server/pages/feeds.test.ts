import { expect, test } from 'vitest'
import { seedWall } from '../testing/database/seed.ts'
import { expectRefusal } from '../testing/http/expect-refusal.ts'
import { findInXml, requireAtom, textsInXml } from '../testing/http/xml.ts'
import { appForFile, appForTest, testPerNode } from '../testing/test-app.ts'

const ORIGIN = 'https://vslukh.example'
const ATOM_TYPE = 'application/atom+xml; charset=utf-8'

const app = await appForFile({ config: { publicUrl: ORIGIN } })
const olga = await app.signUp()

async function read(path: string, init: RequestInit = {}, url = app.url) {
  const answer = await fetch(url + path, init)
  return { status: answer.status, headers: answer.headers, body: await answer.text() }
}

/** Reads a valid Atom feed: its title, id, links by their relations, and the ids of its entries. */
async function readAtom(path: string, url = app.url) {
  const { body } = await read(path, {}, url)
  requireAtom(body)
  const link = (rel: string) =>
    findInXml(body, `/atom:feed/atom:link[@rel="${rel}"]`)[0]?.attributes.href
  return {
    title: textsInXml(body, '/atom:feed/atom:title')[0],
    id: textsInXml(body, '/atom:feed/atom:id')[0],
    updated: textsInXml(body, '/atom:feed/atom:updated')[0],
    links: { self: link('self'), alternate: link('alternate'), next: link('next') },
    entries: textsInXml(body, '//atom:entry/atom:id'),
  }
}

const urlOf = ({ id }: { id: string }) => `${ORIGIN}/posts/${id}`
const timeOf = ({ created_at }: { created_at: number }) => new Date(created_at * 1000).toISOString()

test('/feed.atom is the wall as Atom, with absolute URLs', async () => {
  const older = await app.publish(olga)
  const newer = await app.publish(olga)
  await app.reply(olga, older.id)
  const { status, headers } = await read('/feed.atom?utm_source=reader')
  expect([status, headers.get('content-type')]).toEqual([200, ATOM_TYPE])
  expect(await readAtom('/feed.atom?utm_source=reader')).toEqual({
    title: 'Стена - Вслух',
    id: `${ORIGIN}/feed.atom`,
    updated: timeOf(newer),
    links: { self: `${ORIGIN}/feed.atom`, alternate: `${ORIGIN}/`, next: undefined },
    entries: [urlOf(newer), urlOf(older)],
  })
})

const atOnce = testPerNode('what visitors of another node see some milliseconds later')

atOnce('/feed.json is the wall as JSON Feed', async () => {
  const post = await app.publish(olga)
  const { headers, body } = await read('/feed.json')
  expect(headers.get('content-type')).toBe('application/feed+json; charset=utf-8')
  const feed = JSON.parse(body)
  expect(feed).toMatchObject({ home_page_url: `${ORIGIN}/`, feed_url: `${ORIGIN}/feed.json` })
  expect(feed.items[0].url).toBe(urlOf(post))
})

atOnce(
  '/posts/:id/replies.atom are the replies to a post; a deleted or unknown one is a 404',
  async () => {
    const post = await app.publish(olga, 'О чём речь?')
    const path = `/posts/${post.id}/replies.atom`
    expect((await readAtom(path)).updated).toBe(timeOf(post))
    const answer = await app.reply(olga, post.id, 'Об этом')
    expect(await readAtom(path)).toMatchObject({
      title: `Ответы на запись ${olga.username}: О чём речь? - Вслух`,
      links: { self: ORIGIN + path, alternate: urlOf(post) },
      entries: [urlOf(answer)],
    })
    await app.call('DELETE', `/posts/${post.id}`, { token: olga.token })
    for (const gone of [path, '/posts/999999/replies.atom', '/posts/abc/replies.atom']) {
      const { status, body } = await read(gone)
      expectRefusal({ status, body: JSON.parse(body) }, 'POST_NOT_FOUND')
    }
  },
)

atOnce(
  'a browser gets Atom as XML, which it shows with its style; others get it as Atom, whoever was first',
  async () => {
    const accept = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8'
    for (const path of ['/feed.atom', `/users/${olga.username}/posts.atom`]) {
      const types: unknown[] = []
      for (const headers of [{}, { accept }, { accept: '*/*' }, { accept }]) {
        const answer = await read(path, { headers })
        expect(answer.headers.get('vary')).toBe('Accept, Accept-Encoding')
        types.push(answer.headers.get('content-type'))
      }
      const xml = 'application/xml; charset=utf-8'
      expect(types).toEqual([ATOM_TYPE, xml, ATOM_TYPE, xml])
    }
  },
)

test('every page of a feed leads to the next, until all posts were seen once', async () => {
  const { db, signUp, url } = await appForTest({ config: { publicUrl: ORIGIN } })
  await seedWall(db, (await signUp()).id, 120)
  const seen: string[] = []
  let pages = 0
  for (let path: string | undefined = '/feed.atom'; path && pages < 5; pages++) {
    const { id, links, entries } = await readAtom(path, url)
    expect([id, links.self]).toEqual([`${ORIGIN}/feed.atom`, ORIGIN + path])
    seen.push(...entries)
    path = links.next?.slice(ORIGIN.length)
  }
  expect([pages, seen.length, new Set(seen).size]).toEqual([3, 120, 120])
  const json = JSON.parse((await read('/feed.json', {}, url)).body)
  expect(json.next_url).toMatch(`${ORIGIN}/feed.json?cursor=`)
})

test('an author’s feed has their posts, without their replies', async () => {
  const petr = await app.signUp()
  const post = await app.publish(petr)
  await app.reply(petr, post.id)
  await app.publish(olga)
  const { entries, links } = await readAtom(`/users/${petr.username}/posts.atom`)
  expect(entries).toEqual([urlOf(post)])
  expect(links.alternate).toBe(`${ORIGIN}/users/${petr.username}`)
  expect((await read('/users/no_such_author/posts.atom')).status).toBe(404)
})

test('a feed of what a user received has replies and mentions, also of muted authors and posts, and says so', async () => {
  const [anna, petr] = [await app.signUp(), await app.signUp()]
  const post = await app.publish(anna)
  const reply = await app.reply(petr, post.id)
  const mention = await app.publish(petr, `Привет, @${anna.username}`)
  await app.call('PUT', `/posts/${post.id}/muted`, { token: anna.token })
  const muted = await app.reply(petr, post.id)
  await app.call('PUT', `/users/${petr.id}/mute`, { token: anna.token })
  const path = `/users/${anna.username}/received.atom`
  expect(await readAtom(path)).toMatchObject({
    title: `Ответы и упоминания: ${anna.username} - Вслух`,
    links: { self: ORIGIN + path, alternate: `${ORIGIN}/users/${anna.username}` },
    entries: [muted, mention, reply].map(urlOf),
  })
  const { body, headers } = await read(path)
  expect(body).toContain('в ней есть ответы и тех, кого адресат скрыл')
  const etag = headers.get('etag') ?? ''
  expect((await read(path, { headers: { 'if-none-match': etag } })).status).toBe(304)
  await app.call('DELETE', `/posts/${mention.id}`, { token: petr.token })
  const entries = async () => (await readAtom(path)).entries
  await expect.poll(entries).toEqual([muted, reply].map(urlOf))
  expect((await read('/users/no_such_author/received.atom')).status).toBe(404)
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
    const etag = (await read(path)).headers.get('etag') ?? ''
    const again = () => read(path, { headers: { 'if-none-match': etag } })
    expect(await again()).toMatchObject({ status: 304, body: '' })
    await app.reply(olga, id)
    await app.publish(olga)
    expect((await again()).status).toBe(200)
  }
})

const sitemapsIn = (xml: string) =>
  textsInXml(xml, '/sitemap:sitemapindex/sitemap:sitemap/sitemap:loc')
const urlsIn = (xml: string) => textsInXml(xml, '/sitemap:urlset/sitemap:url/sitemap:loc')

test('robots.txt names the sitemap, whose index names sitemaps of all posts that exist, with the time of the last edit or clarification', async () => {
  const { sql, ...own } = await appForTest({ config: { publicUrl: ORIGIN } })
  const readOwn = (path: string) => read(path, {}, own.url)
  // Ids 1 to 13,200: three ranges of 5,000. The second one is empty in the end, and the last one is not full.
  await seedWall(own.db, (await own.signUp()).id, 12_000)
  await sql`DELETE FROM posts WHERE id BETWEEN 5000 AND 9999 OR id = 12`
  await sql`UPDATE posts SET created_at = '2026-03-08 12:00:00Z' WHERE id = 4999`
  const edited = '2026-03-08T12:05:00.000Z'
  await sql`UPDATE posts SET modified_at = ${edited} WHERE id = 4998`
  const clarified = '2026-03-08T12:10:00.000Z'
  await sql`INSERT INTO posts (owner_id, text, replied_post_id, parent_post_id, created_at)
    SELECT owner_id, 'Уточнение', id, id, ${clarified}::timestamptz FROM posts WHERE id = 4997`
  await sql`UPDATE posts SET clarification_id = (SELECT max(id) FROM posts) WHERE id = 4997`
  await sql`INSERT INTO posts (owner_id, text) SELECT owner_id, 'Новая' FROM posts WHERE id = 4997`

  const robots = await readOwn('/robots.txt')
  expect(robots.headers.get('content-type')).toBe('text/plain; charset=utf-8')
  expect(robots.body).toBe(
    'User-agent: *\nDisallow: /liked\nDisallow: /own\nDisallow: /replies\nDisallow: /settings\n\n' +
      `Sitemap: ${ORIGIN}/sitemap.xml\n`,
  )
  const { headers, body: index } = await readOwn('/sitemap.xml')
  expect(headers.get('content-type')).toBe('application/xml; charset=utf-8')
  expect(headers.get('cache-control')).toBe('public, max-age=3600')
  expect(sitemapsIn(index)).toEqual([`${ORIGIN}/sitemap/0.xml`, `${ORIGIN}/sitemap/2.xml`])
  const [first, last = ''] = textsInXml(index, '//sitemap:lastmod')
  expect(first).toBe(clarified)
  expect(Math.abs(Date.now() - Date.parse(last))).toBeLessThan(600_000)

  const paths = sitemapsIn(index).map((url) => url.slice(ORIGIN.length))
  const sitemaps = await Promise.all(paths.map(async (path) => (await readOwn(path)).body))
  const urls = sitemaps.map(urlsIn)
  expect(Math.max(...urls.map(({ length }) => length))).toBeLessThanOrEqual(5000)
  expect(sitemaps.flatMap((xml) => textsInXml(xml, '//sitemap:lastmod'))).toEqual([
    clarified,
    edited,
  ])
  const rows = await sql<{ id: string }>`SELECT id FROM posts ORDER BY id`
  expect(rows.length).toBe(8201)
  expect(urls.flat()).toEqual([`${ORIGIN}/`, ...rows.map(({ id }) => `${ORIGIN}/posts/${id}`)])
  for (const name of ['1', '999999999', 'abc', '-1']) {
    expect((await readOwn(`/sitemap/${name}.xml`)).status, name).toBe(404)
  }
})

testPerNode('limits counted in memory, by each node for itself')(
  'an empty wall has a sitemap of itself, which is made once an hour; sitemaps and feeds are charged to the limit on a visitor’s calls',
  async () => {
    const strict = await appForTest({ config: { rateLimitScale: 2 / 1000 } })
    const readStrict = (path: string) => read(path, {}, strict.url)
    const first = await readStrict('/sitemap.xml')
    expect(sitemapsIn(first.body)).toEqual(['http://localhost:0/sitemap/0.xml'])
    expect(urlsIn((await readStrict('/sitemap/0.xml')).body)).toEqual(['http://localhost:0/'])
    await strict.sql`INSERT INTO users (username, email, email_key) VALUES ('olga1', 'o@example.org', 'o')`
    await seedWall(strict.db, '1', 1)
    expect((await readStrict('/sitemap.xml')).body).toBe(first.body)
    const statuses: number[] = []
    for (const path of ['/feed.atom', '/feed.json', '/posts/1/replies.atom', '/feed.atom']) {
      statuses.push((await readStrict(path)).status)
    }
    expect(statuses).toEqual([200, 200, 200, 429])
    expect((await readStrict('/sitemap.xml')).status).toBe(429)
  },
)
