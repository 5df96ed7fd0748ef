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

test('robots.txt names the sitemap, whose index names sitemaps of all posts that exist, with the time of the last edit', async () => {
  const olga = await app.signUp()
  // Ids 1 to 13,200: three ranges of 5,000. The second one is empty in the end, and the last one is not full.
  await seedWall(app.db, olga.id, 12_000)
  await app.sql`DELETE FROM posts WHERE id BETWEEN 5000 AND 9999 OR id = 12`
  await app.sql`UPDATE posts SET created_at = '2026-03-08 12:00:00Z' WHERE id = 4999`
  const edited = '2026-03-08T12:05:00.000Z'
  await app.sql`UPDATE posts SET modified_at = ${edited} WHERE id = 4998`

  const robots = await read('/robots.txt')
  expect(robots.headers.get('content-type')).toBe('text/plain; charset=utf-8')
  expect(robots.body).toBe(
    'User-agent: *\nDisallow: /settings\nDisallow: /liked\nDisallow: /own/\n\n' +
      `Sitemap: ${ORIGIN}/sitemap.xml\n`,
  )
  const { headers, body: index } = await read('/sitemap.xml')
  expect(headers.get('content-type')).toBe('application/xml; charset=utf-8')
  expect(headers.get('cache-control')).toBe('public, max-age=3600')
  expect(sitemapsIn(index)).toEqual([`${ORIGIN}/sitemap/0.xml`, `${ORIGIN}/sitemap/2.xml`])
  const [first, last = ''] = textsInXml(index, '//sitemap:lastmod')
  expect(first).toBe(edited)
  expect(Math.abs(Date.now() - Date.parse(last))).toBeLessThan(600_000)

  const paths = sitemapsIn(index).map((url) => url.slice(ORIGIN.length))
  const sitemaps = await Promise.all(paths.map(async (path) => (await read(path)).body))
  const urls = sitemaps.map(urlsIn)
  expect(Math.max(...urls.map(({ length }) => length))).toBeLessThanOrEqual(5000)
  expect(sitemaps.flatMap((xml) => textsInXml(xml, '//sitemap:lastmod'))).toEqual([edited])
  const rows = await app.sql<{ id: string }>`SELECT id FROM posts ORDER BY id`
  expect(rows.length).toBe(8199)
  expect(urls.flat()).toEqual([`${ORIGIN}/`, ...rows.map(({ id }) => `${ORIGIN}/posts/${id}`)])
  for (const name of ['1', '999999999', 'abc', '-1']) {
    expect((await read(`/sitemap/${name}.xml`)).status, name).toBe(404)
  }
})

testPerNode('limits counted in memory, by each node for itself')(
  'an empty wall has a sitemap of itself, which is made once an hour and charged to the limit on a visitor’s calls',
  async () => {
    const strict = await appForTest({ config: { rateLimitScale: 1 / 1000 } })
    const readStrict = (path: string) => read(path, {}, strict.url)
    const first = await readStrict('/sitemap.xml')
    expect(sitemapsIn(first.body)).toEqual(['http://localhost:0/sitemap/0.xml'])
    expect(urlsIn((await readStrict('/sitemap/0.xml')).body)).toEqual(['http://localhost:0/'])
    await strict.sql`INSERT INTO users (username, email, email_key) VALUES ('olga1', 'o@example.org', 'o')`
    await seedWall(strict.db, '1', 1)
    expect((await readStrict('/sitemap.xml')).body).toBe(first.body)
    expect((await readStrict('/sitemap.xml')).status).toBe(429)
  },
)
