import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { SITE_DESCRIPTION } from '../../contract/pages.ts'
import { appForFile, appForTest, testPerNode } from '../testing/test-app.ts'

const SESSION = { cookie: 'session=whatever' }
/** How many pages are read and made at once. */
const PAGES_AT_WORK = 12

const app = await appForFile({
  config: { trustProxy: ['127.0.0.1'] },
  // Pages wait for a lock until it is released, however long the others take.
  poolLimits: { statementTimeoutMs: 30_000 },
})
const olga = await app.signUp()

async function read(path: string, headers: Record<string, string> = {}, url = app.url) {
  const answer = await fetch(url + path, { headers })
  const html = await answer.text()
  const { status, headers: answered } = answer
  return { status, headers: answered, html, title: /<title>(.*?)<\/title>/.exec(html)?.[1] }
}

/** Returns the content of a meta tag by its name or property. */
function meta(html: string, name: string): string | undefined {
  return new RegExp(`<meta (?:name|property)="${name}" content="(.*?)">`).exec(html)?.[1]
}

test('the head of the wall describes it, once; a post is titled with its author and beginning, for crawlers and link previews', async () => {
  const { html, title } = await read('/')
  expect([title, meta(html, 'og:title')]).toEqual(['Стена - Вслух', 'Вслух'])
  expect(meta(html, 'description')).toBe(SITE_DESCRIPTION)
  expect(html.match(/<title>|name="description"/g)).toHaveLength(2)

  const text = `Говорят, стены слышат.\n\n${'И помнят всё, что им сказали. '.repeat(12)}`
  const { id } = await app.publish(olga, text)
  const page = await read(`/posts/${id}?from=somewhere`)
  expect(page).toMatchObject({
    status: 200,
    title: `${olga.username}: Говорят, стены слышат. И помнят всё, что им сказали. И… - Вслух`,
  })
  const metas = ['author', 'og:title', 'og:type'].map((name) => meta(page.html, name))
  expect(metas).toEqual([olga.username, olga.username, 'article'])
  expect(meta(page.html, 'description')).toMatch(/^Говорят, стены слышат. И помнят .{80,150}…$/)
  expect(meta(page.html, 'og:description')?.length).toBeGreaterThan(160)
  expect(meta(page.html, 'article:published_time')).toMatch(/^\d{4}-\d\d-\d\dT/)
})

test('the text of a post ends neither the head nor the data for scripts', async () => {
  const hostile = '</title><script>alert(1)</script>"><img src=x onerror=alert(1)> $& $1 &lt; <!--'
  const { id } = await app.publish(olga, hostile)
  const { html, title } = await read(`/posts/${id}`)
  expect(html).not.toMatch(/<script>alert|<img|<\/title><script/)
  expect(title).toContain('&#60;/title&#62;&#60;script&#62;alert(1)')
  expect(meta(html, 'og:description')).toContain('&#34;&#62;&#60;img')
  expect(meta(html, 'og:description')).toContain('$&#38; $1 &#38;lt;')
  expect(html.match(/<title>/g)).toHaveLength(1)
  const [, data = ''] = /id="first-page">(.*?)<\/script>/s.exec(html) ?? []
  expect(data).not.toContain('<')
  expect(JSON.parse(data)).toMatchObject({ post: { text: hostile } })
})

const atOnce = testPerNode('what visitors of another node see some milliseconds later')

atOnce('the head follows each edit at once, and a deleted or unknown post is a 404', async () => {
  const { id } = await app.publish(olga, 'Как было')
  expect((await read(`/posts/${id}`)).title).toContain('Как было')
  await app.call('PATCH', `/posts/${id}`, { token: olga.token, body: { text: 'Как стало' } })
  expect((await read(`/posts/${id}`)).title).toContain('Как стало')
  await app.call('DELETE', `/posts/${id}`, { token: olga.token })
  for (const path of [`/posts/${id}`, '/posts/999999', '/posts/abc', '/posts/0']) {
    expect(await read(path)).toMatchObject({ status: 404, title: 'Запись не найдена - Вслух' })
  }
})

test.each([
  ['/Rules', 308, '/rules'],
  ['//', 308, '/'],
  ['/?cursor=', 308, '/'],
  ['/rule%73', 308, '/rules'],
  ['/Posts/5/?cursor=&from=a%20b&x=1', 308, '/posts/5?from=a%20b&x=1'],
  // No address leads to another site.
  ['//evil.example', 404, null],
  ['/%2Fevil.example', 404, null],
  ['/%5Cevil.example', 404, null],
  ['/posts/', 404, null],
])(
  'each address has one spelling, to which others are sent: %s is %i %s',
  async (path, ...answer) => {
    const { status, headers } = await fetch(app.url + path, { redirect: 'manual' })
    expect([status, headers.get('location')]).toEqual(answer)
  },
)

test.each(['/nowhere', '/posts/%zz', '/%', '/%ff?a=1', '/assets/%zz', `/posts/${'5'.repeat(101)}`])(
  'an unknown or malformed address is a missing page: %s',
  async (path) => {
    const title = 'Страница не существует - Вслух'
    expect(await read(path)).toMatchObject({ status: 404, title })
  },
)

test('pages that show a visitor nothing are noindex, and state whether there is a session', async () => {
  const { id } = await app.publish(olga)
  for (const path of ['/email-undo', '/settings', '/liked']) {
    const { status, html } = await read(path)
    expect([path, status, meta(html, 'robots')]).toEqual([path, 200, 'noindex'])
  }
  for (const path of ['/', `/posts/${id}`]) {
    expect(meta((await read(path)).html, 'robots'), path).toBeUndefined()
  }
  const { html, headers } = await read('/settings')
  expect(meta(html, 'session')).toBe('none')
  expect(meta((await read('/settings', SESSION)).html, 'session')).toBeUndefined()
  expect([headers.get('vary'), headers.get('cache-control')]).toEqual([
    'Cookie',
    'private, no-cache',
  ])
})

test('previews contain URLs only where PUBLIC_URL is set', async () => {
  const { id } = await app.publish(olga)
  const { html } = await read(`/posts/${id}`)
  expect(html).not.toMatch(/og:url|og:image|canonical/)

  const known = await appForTest({
    databaseUrl: app.databaseUrl,
    config: { publicUrl: 'https://vslukh.example' },
  })
  const { html: full } = await read(`/posts/${id}?from=somewhere`, {}, known.url)
  expect(meta(full, 'og:url')).toBe(`https://vslukh.example/posts/${id}`)
  expect(meta(full, 'og:image')).toMatch(
    RegExp(`^https://vslukh.example/posts/${id}/picture.png\\?v=[\\w-]{12}$`),
  )
  expect(meta(full, 'twitter:card')).toBe('summary_large_image')
  expect(full).toContain(`<link rel="canonical" href="https://vslukh.example/posts/${id}">`)
})

const perNode = testPerNode('limits counted in memory, by each node for itself')

perNode('a page that may not or cannot be read now is an error, never an empty 200', async () => {
  const strict = await appForTest({
    databaseUrl: app.databaseUrl,
    config: { rateLimitScale: 1 / 3000 },
  })
  const { id } = await app.publish(olga, 'Прочтите меня')
  expect((await read(`/posts/${id}`, {}, strict.url)).title).toContain('Прочтите меня')
  for (const path of [`/posts/${id}`, '/search?q=слово']) {
    const { status, html, headers } = await read(path, {}, strict.url)
    expect([path, status, Number(headers.get('retry-after')) > 0]).toEqual([path, 429, true])
    expect(html).toContain('src="/assets/index.js"')
  }

  await app.sql`ALTER VIEW visible_posts RENAME TO away`
  try {
    const next = String(Number(id) + 1)
    expect(await read(`/posts/${next}`)).toMatchObject({ status: 500, title: 'Вслух' })
  } finally {
    await app.sql`ALTER VIEW away RENAME TO visible_posts`
  }
})

perNode(
  'while pages take long, people’s calls are answered, and further pages are 503 in HTML with Retry-After',
  async () => {
    const { id } = await app.publish(olga)
    const held = await app.db.startTransaction().execute()
    await sql`LOCK TABLE posts`.execute(held)
    const refused: Awaited<ReturnType<typeof read>>[] = []
    const pages = Array.from({ length: PAGES_AT_WORK + 50 }, async (_, n) => {
      // Each from a network of its own, or the bound of one network would refuse them sooner.
      const page = await read(`/posts/${1000 + n}`, { 'x-forwarded-for': `10.0.0.${n}` })
      if (page.status === 503) refused.push(page)
      return page.status
    })
    const { token } = olga
    while (refused.length < 50) {
      expect((await app.call('GET', '/sessions', { token })).status).toBe(200)
    }
    await held.rollback().execute()
    // Those that were being read find that there is no such post.
    const missing = (await Promise.all(pages)).filter((status) => status === 404)
    expect(missing).toHaveLength(PAGES_AT_WORK)
    for (const { headers } of refused) {
      expect(headers.get('content-type')).toBe('text/html; charset=utf-8')
      expect(Number(headers.get('retry-after'))).toBeGreaterThan(0)
      expect(headers.get('cache-control')).toBe('no-store')
      expect(headers.get('content-security-policy')).toMatch(/^default-src 'self'/)
    }
    const { html = '' } = refused[0] ?? {}
    expect(html).toContain('Страница сейчас не открывается. Через несколько секунд она загрузится')
    expect(html).toContain('src="/assets/index.js"')
    expect((await read(`/posts/${id}`)).status).toBe(200)
  },
)
