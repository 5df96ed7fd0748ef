import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { seedWall } from '../testing/seed.ts'
import { appForFile, appForTest, testPerNode } from '../testing/test-app.ts'
import { textsInXml } from '../testing/xml.ts'

const ORIGIN = 'https://vslukh.example'

const app = await appForFile({ config: { publicUrl: ORIGIN } })

async function read(path: string, init: RequestInit = {}, url = app.url) {
  const answer = await fetch(url + path, init)
  return { status: answer.status, headers: answer.headers, body: await answer.text() }
}

const sitemapsIn = (xml: string) =>
  textsInXml(xml, '/sitemap:sitemapindex/sitemap:sitemap/sitemap:loc')
const urlsIn = (xml: string) => textsInXml(xml, '/sitemap:urlset/sitemap:url/sitemap:loc')

test('robots.txt names the sitemap, whose index names sitemaps of all posts that exist', async () => {
  const olga = await app.signUp()
  // Ids 1 to 13,200: three ranges of 5,000. The second one is empty in the end, and the last one is not full.
  await seedWall(app.db, olga.id, 12_000)
  await sql`DELETE FROM posts WHERE id BETWEEN 5000 AND 9999 OR id = 12`.execute(app.db)
  await sql`UPDATE posts SET created_at = '2026-03-08 12:00:00Z' WHERE id = 4999`.execute(app.db)

  const robots = await read('/robots.txt')
  expect(robots.headers.get('content-type')).toBe('text/plain; charset=utf-8')
  expect(robots.body).toBe(
    'User-agent: *\nDisallow: /settings\nDisallow: /liked\nDisallow: /own/\n\n' +
      `Sitemap: ${ORIGIN}/sitemap.xml\n`,
  )
  const { headers, body: index } = await read('/sitemap.xml')
  expect(headers.get('content-type')).toBe('application/xml; charset=utf-8')
  expect(sitemapsIn(index)).toEqual([`${ORIGIN}/sitemap/0.xml`, `${ORIGIN}/sitemap/2.xml`])
  const [first, last = ''] = textsInXml(index, '//sitemap:lastmod')
  expect(first).toBe('2026-03-08T12:00:00.000Z')
  expect(Math.abs(Date.now() - Date.parse(last))).toBeLessThan(600_000)

  const urls: string[] = []
  for (const url of sitemapsIn(index)) {
    const inSitemap = urlsIn((await read(url.slice(ORIGIN.length))).body)
    expect(inSitemap.length).toBeLessThanOrEqual(5000)
    urls.push(...inSitemap)
  }
  const { rows } = await sql<{ id: string }>`SELECT id FROM posts ORDER BY id`.execute(app.db)
  expect(rows.length).toBe(8199)
  expect(urls).toEqual([`${ORIGIN}/`, ...rows.map(({ id }) => `${ORIGIN}/posts/${id}`)])
})

test('a sitemap and the index say when the last edit was', async () => {
  const edited = await appForTest()
  const olga = await edited.signUp()
  await seedWall(edited.db, olga.id, 3)
  await sql`UPDATE posts SET created_at = '2026-03-08 12:00:00Z'`.execute(edited.db)
  await sql`UPDATE posts SET modified_at = '2026-03-08 12:05:00Z' WHERE id = 2`.execute(edited.db)
  const lastmods = async (path: string) =>
    textsInXml((await read(path, {}, edited.url)).body, '//sitemap:lastmod')
  expect(await lastmods('/sitemap.xml')).toEqual(['2026-03-08T12:05:00.000Z'])
  expect(await lastmods('/sitemap/0.xml')).toEqual(['2026-03-08T12:05:00.000Z'])
})

test('a range without posts has no sitemap', async () => {
  for (const name of ['1', '999999999', '0000000000', 'abc', '-1', '1.5']) {
    expect((await read(`/sitemap/${name}.xml`)).status, name).toBe(404)
  }
})

test('an empty wall has a sitemap of itself', async () => {
  const empty = await appForTest()
  const origin = 'http://localhost:0'
  const { body } = await read('/sitemap.xml', {}, empty.url)
  expect(sitemapsIn(body)).toEqual([`${origin}/sitemap/0.xml`])
  expect(urlsIn((await read('/sitemap/0.xml', {}, empty.url)).body)).toEqual([`${origin}/`])
})

test('a sitemap may be cached for an hour, and is 304 for its ETag', async () => {
  for (const path of ['/robots.txt', '/sitemap.xml', '/sitemap/0.xml']) {
    const { headers, body } = await read(path)
    expect(headers.get('cache-control')).toBe('public, max-age=3600')
    const etag = headers.get('etag') ?? ''
    expect((await read(path, { headers: { 'if-none-match': etag } })).status).toBe(304)
    const plain = { 'accept-encoding': 'identity' }
    const head = await read(path, { method: 'HEAD', headers: plain })
    expect([head.status, head.body]).toEqual([200, ''])
    expect(head.headers.get('content-length')).toBe(String(Buffer.byteLength(body)))
  }
})

const perCache = testPerNode('responses that each node caches for itself')

perCache('each of 40 sitemaps is made once an hour', async () => {
  const many = await appForTest()
  const olga = await many.signUp()
  await sql`INSERT INTO posts (id, owner_id, text) OVERRIDING SYSTEM VALUE
    SELECT n * 5000 + 7, ${olga.id}, 'Запись' FROM generate_series(0, 39) n`.execute(many.db)
  const readAll = () =>
    Promise.all(Array.from({ length: 40 }, (_, n) => read(`/sitemap/${n}.xml`, {}, many.url)))
  const made = await readAll()
  expect(made.map(({ body }) => urlsIn(body).length)).toEqual([2, ...Array(39).fill(1)])
  await sql`DELETE FROM posts`.execute(many.db)
  expect((await readAll()).map(({ body }) => body)).toEqual(made.map(({ body }) => body))
})

const perNode = testPerNode('limits counted in memory, by each node for itself')

perNode(
  'a sitemap is charged to the limit on a visitor’s calls, and made once an hour',
  async () => {
    const strict = await appForTest({ config: { rateLimitScale: 1 / 1000 } })
    const first = await read('/sitemap.xml', {}, strict.url)
    await sql`INSERT INTO users (username, email, email_key) VALUES ('olga1', 'o@example.org', 'o')`.execute(
      strict.db,
    )
    await seedWall(strict.db, '1', 1)
    expect((await read('/sitemap.xml', {}, strict.url)).body).toBe(first.body)
    const statuses = []
    for (const path of ['/sitemap/0.xml', '/sitemap.xml']) {
      statuses.push((await read(path, {}, strict.url)).status)
    }
    expect(statuses).toEqual([200, 429])
  },
)
