import { getPriority } from 'node:os'
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { type FirstPage, OPEN_SITE, SITE_DESCRIPTION } from '../../contract/pages.ts'
import { cookieOf } from '../features/sessions/cookie.ts'
import { appForFile, appForTest, TEST_SITE, testPerNode } from '../testing/test-app.ts'

const SESSION = { cookie: `${cookieOf('session', TEST_SITE).name}=whatever` }
/** How many pages are read and made at once. */
const PAGES_AT_WORK = 12

const app = await appForFile({ config: { trustProxy: ['127.0.0.1'] } })
const olga = await app.signUp()

/** Reads a page. `first` is the data in it from which the app starts in the browser. */
async function read(path: string, headers: Record<string, string> = {}, url = app.url) {
  const ask = () => fetch(url + path, { headers, redirect: 'manual' })
  let answer = await ask()
  // While a slow machine makes a page, it sends the one before it.
  while (answer.headers.has('age')) answer = await ask()
  const html = await answer.text()
  const { status, headers: answered } = answer
  const [, title] = /<title>(.*?)<\/title>/.exec(html) ?? []
  const [, data] = / id="first-page">(.*?)<\/script>/s.exec(html) ?? []
  const first: FirstPage | undefined = data === undefined ? undefined : JSON.parse(data)
  return { status, headers: answered, html, title, data, first }
}

/** Returns the content of a meta tag by its name or property. */
function meta(html: string, name: string): string | undefined {
  return new RegExp(`<meta (?:name|property)="${name}" content="(.*?)">`).exec(html)?.[1]
}

test('the head of the wall describes it, once; a post is titled with its author and beginning, for crawlers and link previews, which have no URL without PUBLIC_URL', async () => {
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
  // No PUBLIC_URL is set.
  expect(page.html).not.toMatch(/og:url|og:image|canonical/)
})

test('the text of a post ends neither the head nor the data for scripts', async () => {
  const hostile = '</title><script>alert(1)</script>"><img src=x onerror=alert(1)> $& $1 &lt; <!--'
  const { id } = await app.publish(olga, hostile)
  const { html, title, data, first } = await read(`/posts/${id}`)
  expect(html).not.toMatch(/<script>alert|<img|<\/title><script/)
  expect(title).toContain('&#60;/title&#62;&#60;script&#62;alert(1)')
  expect(meta(html, 'og:description')).toContain('&#34;&#62;&#60;img')
  expect(meta(html, 'og:description')).toContain('$&#38; $1 &#38;lt;')
  expect(html.match(/<title>/g)).toHaveLength(1)
  expect(data).not.toContain('<')
  expect(first).toMatchObject({ post: { text: hostile } })
})

const atOnce = testPerNode('what visitors of another node see some milliseconds later')

atOnce('the head follows each edit at once, and a deleted or unknown post is a 404', async () => {
  const { id } = await app.publish(olga, 'Как было')
  expect((await read(`/posts/${id}`)).title).toContain('Как было')
  await app.call('PATCH', `/posts/${id}`, { token: olga.token, body: { text: 'Как стало' } })
  expect((await read(`/posts/${id}`)).title).toContain('Как стало')
  await app.call('DELETE', `/posts/${id}`, { token: olga.token })
  const missing = { now: 0, site: OPEN_SITE, shows: 'missing post' }
  for (const path of [`/posts/${id}`, '/posts/999999', '/posts/abc', '/posts/0']) {
    const { status, title, first } = await read(path)
    expect([status, title, first]).toEqual([404, 'Запись не найдена - Вслух', missing])
  }
})

test.each([
  ['/Rules', 308, '/rules'],
  ['//', 308, '/'],
  ['/?cursor=', 308, '/'],
  ['/rule%73', 308, '/rules'],
  ['/posts/5.', 308, '/posts/5'],
  ['/posts/5),?cursor=4', 308, '/posts/5?cursor=4'],
  ['/Posts/5/?cursor=&from=a%20b&x=1', 308, '/posts/5?from=a%20b&x=1'],
  // No address leads to another site.
  ['//evil.example', 404, null],
  ['/%2Fevil.example', 404, null],
  ['/%5Cevil.example', 404, null],
  ['/posts/', 404, null],
])(
  'each address has one spelling, to which others are sent: %s is %i %s',
  async (path, ...answer) => {
    const { status, headers } = await read(path)
    expect([status, headers.get('location')]).toEqual(answer)
  },
)

test.each([
  ...['/nowhere', '/posts/%zz', '/%', '/%ff?a=1', '/assets/%zz'],
  // The part of the build that the server runs is not public.
  '/.server/entry-server.js',
])('an unknown or malformed address is a missing page: %s', async (path) => {
  const { status, title, first } = await read(path)
  const missing = { now: 0, site: OPEN_SITE, shows: 'nothing' }
  expect([status, title, first]).toEqual([404, 'Страница не существует - Вслух', missing])
})

test('pages that show a visitor nothing are noindex, and state whether there is a session', async () => {
  const { id } = await app.publish(olga)
  for (const path of ['/email-undo', '/reply-mails', '/settings', '/liked']) {
    const { status, html } = await read(path)
    expect([path, status, meta(html, 'robots')]).toEqual([path, 200, 'noindex'])
  }
  for (const path of ['/', `/posts/${id}`]) {
    expect(meta((await read(path)).html, 'robots'), path).toBeUndefined()
  }
  const { html, headers } = await read('/settings')
  expect(meta(html, 'session')).toBe('none')
  expect(meta((await read('/settings', SESSION)).html, 'session')).toBeUndefined()
  expect(headers.get('vary')).toBe('Cookie')
  expect(headers.get('cache-control')).toBe('private, no-cache, no-transform')
})

const perNode = testPerNode('limits counted in memory, by each node for itself')

perNode('a page that may not or cannot be read now is an error, never an empty 200', async () => {
  const { databaseUrl } = app
  const strict = await appForTest({ databaseUrl, config: { rateLimitScale: 1 / 3000 } })
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
  'while pages take long, people’s calls are answered; further pages are 503 in HTML with Retry-After, and sitemaps 503',
  async () => {
    const { id } = await app.publish(olga)
    const statusOfSitemap = async () => (await read('/sitemap.xml')).status
    expect(await statusOfSitemap()).toBe(200)
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
    expect(await statusOfSitemap()).toBe(503)
    await held.rollback().execute()
    // Those that were being read find that there is no such post.
    const missing = (await Promise.all(pages)).filter((status) => status === 404)
    expect(missing).toHaveLength(PAGES_AT_WORK)
    for (const { headers } of refused) {
      expect(headers.get('content-type')).toBe('text/html; charset=utf-8')
      expect(Number(headers.get('retry-after'))).toBeGreaterThan(0)
      expect(headers.get('cache-control')).toBe('no-store, no-transform')
      expect(headers.get('content-security-policy')).toMatch(/^default-src 'self'/)
    }
    const { html = '' } = refused[0] ?? {}
    expect(html).toContain('Страница сейчас не открывается. Обновите её')
    expect(html).toContain('src="/assets/index.js"')
    expect((await read(`/posts/${id}`)).status).toBe(200)
  },
)

test('the wall is rendered for visitors, with the JSON that the browser would ask for first', async () => {
  await app.publish(olga, 'Слышно?')
  const { status, html, headers, first } = await read('/')
  expect(status).toBe(200)
  expect(html).toContain('>Вслух wall /</main></div>')
  expect(first).toMatchObject({ shows: 'wall', cursor: '' })
  expect(first?.shows === 'wall' && first.posts).toEqual((await app.call('GET', '/posts')).body)
  expect(Math.abs((first?.now ?? 0) - Date.now() / 1000)).toBeLessThan(5)
  expect(headers.get('vary')).toBe('Cookie, Accept-Encoding')
  expect(headers.get('cache-control')).toMatch(/^public, max-age=0, s-maxage=1, stale-if-/)
})

perNode(
  'one network opens only so many pages at once that no cache answers, and others open them',
  async () => {
    const config = { rateLimitScale: 0.01, trustProxy: ['127.0.0.1'] }
    const { databaseUrl } = app
    const limited = await appForTest({ databaseUrl, config })
    const statuses: number[] = []
    for (const ip of ['192.0.2.1', '192.0.2.1', '192.0.2.1', '192.0.2.1', '192.0.2.2']) {
      const { id } = await app.publish(olga)
      const headers = { 'x-forwarded-for': ip }
      statuses.push((await read(`/posts/${id}`, headers, limited.url)).status)
    }
    expect(statuses).toEqual([200, 200, 200, 429, 200])
  },
)

test('a reply is rendered with the three nearest posts above it; only one of them is no further read', async () => {
  const posts = [await app.publish(olga, 'Начало')]
  for (let n = 1; n <= 4; n++)
    posts.push(await app.reply(olga, posts.at(-1)?.id ?? '', `Ответ ${n}`))
  const shownOn = async (at: number) => {
    const { first } = await read(`/posts/${posts[at]?.id}`)
    return first?.shows === 'post' ? first.ancestors : undefined
  }
  expect(await shownOn(0)).toBeUndefined()
  expect(await shownOn(1)).toBeUndefined()
  const nearest = (await shownOn(4))?.posts.map(({ text }) => text)
  expect(nearest).toEqual(['Ответ 1', 'Ответ 2', 'Ответ 3'])
  const body = { text: 'Новое начало' }
  await app.call('PATCH', `/posts/${posts[0]?.id}`, { token: olga.token, body })
  expect((await shownOn(3))?.posts[0]?.text).toBe('Новое начало')
})

test('a post is rendered with its replies, and each part of a list has an address; an invalid one redirects to the beginning', async () => {
  const { id } = await app.publish(olga, 'Кто здесь?')
  for (let reply = 0; reply < 11; reply++) await app.reply(olga, id)
  const { first } = await read(`/posts/${id}?from=somewhere`)
  if (first?.shows !== 'post') throw new Error('The page shows no post')
  expect([first.post.text, first.replies.posts.length]).toEqual(['Кто здесь?', 10])
  const cursor = first.replies.nextCursor ?? ''
  const next = await read(`/posts/${id}?cursor=${encodeURIComponent(cursor)}&from=somewhere`)
  expect(next.html).toContain(`/posts/${id}?cursor=`)
  expect(next.first).toMatchObject({ shows: 'post', cursor, replies: { posts: [{}] } })
  for (const path of ['/', `/posts/${id}`]) {
    const { status, headers } = await read(`${path}?cursor=nonsense`)
    expect([status, headers.get('location')]).toEqual([302, path])
  }
})

test('an author is rendered with their posts or replies; another spelling and a former name lead there', async () => {
  const petr = await app.signUp()
  for (const username of ['Petr_before', 'Petr_now']) {
    await app.call('PATCH', '/users/current/profile', { token: petr.token, body: { username } })
  }
  const post = await app.publish(petr, 'Моя запись')
  const reply = await app.reply(petr, post.id, 'Мой ответ')
  for (const [list, id] of Object.entries({ '': post.id, '/replies': reply.id })) {
    const { html, title, first } = await read(`/users/Petr_now${list}`)
    expect(title).toBe('Petr_now - Вслух')
    expect(html).toContain('href="/users/Petr_now/posts.atom"')
    if (first?.shows !== 'author') throw new Error('The page shows no author')
    expect([first.author.id, first.posts.posts.map((it) => it.id)]).toEqual([petr.id, [id]])
  }
  for (const path of ['/users/petr_NOW', '/users/petr_before']) {
    const { status, headers } = await read(`${path}/replies`)
    expect([status, headers.get('location')]).toEqual([302, '/users/Petr_now/replies'])
  }
  const missing = await read('/users/no_such_author')
  expect([missing.status, missing.first?.shows]).toEqual([404, 'missing author'])
  expect(missing.html).toContain('Автор не найден')
})

test('no proxy may change a page, whose scripts would not run then', async () => {
  const { id } = await app.publish(olga, 'Без изменений')
  for (const path of ['/', `/posts/${id}`, '/rules', '/search?q=x', '/settings', '/invitation'])
    for (const headers of [{}, SESSION]) {
      const { status, headers: answered } = await read(path, headers)
      expect([path, status]).toEqual([path, 200])
      expect(answered.get('content-type')).toMatch(/^text\/html/)
      expect(answered.get('cache-control')).toContain('no-transform')
      const etag = answered.get('etag')
      if (!etag) continue
      const again = await read(path, { ...headers, 'if-none-match': etag })
      expect(again.headers.get('cache-control')).toContain('no-transform')
    }
  for (const path of ['/posts/999999', '/nowhere', '/users/no_such_author', '/moderation'])
    for (const headers of [{}, SESSION]) {
      const missing = await read(path, headers)
      expect([path, missing.status]).toEqual([path, 404])
      expect(missing.headers.get('cache-control')).toContain('no-transform')
    }
})

test('users get the visitors’ page, which no proxy may store', async () => {
  const { id } = await app.publish(olga, 'Видно всем')
  await app.call('POST', `/posts/${id}/likes`, { token: olga.token })
  const withoutTimes = (html: string) => html.replace(/data-count="\d+"|"now":\d+/g, '')
  for (const path of ['/', `/posts/${id}`, '/rules']) {
    const { html, headers } = await read(path, { cookie: olga.cookie })
    expect(headers.get('cache-control')).toBe('private, no-cache, no-transform')
    expect(withoutTimes((await read(path, SESSION)).html)).toBe(withoutTimes(html))
    // Another cookie is no session.
    const visitors = await read(path, { cookie: 'other=1' })
    expect(visitors.headers.get('etag')).not.toBe(headers.get('etag'))
    const inSession = visitors.html
      .replace('<html ', '<html data-session ')
      .replace('<meta name="session" content="none">', '')
    expect(withoutTimes(inSession)).toBe(withoutTimes(html))
  }
  // What is no page for visitors may be one for them.
  const { html, status } = await read('/nowhere', SESSION)
  expect([status, html.includes('<div id="root"></div>')]).toEqual([404, true])
})

test.runIf(process.platform === 'linux')(
  'pages are rendered at a lower priority, after a load at the usual one, which a busy machine does not delay for long',
  async () => {
    const usual = getPriority()
    const lower = Math.min(19, usual + 15)
    expect((await read('/')).html).toContain(` data-priorities="${usual} ${lower}">`)
  },
)

test('a page that fails to render is an error of its own; a thread that ends is replaced', async () => {
  const broken = await app.publish(olga, 'Сбой')
  const last = await app.publish(olga, 'Конец')
  const whole = await app.publish(olga, 'Цела')
  const pages = await Promise.all([broken, whole].map(({ id }) => read(`/posts/${id}`)))
  expect(pages.map(({ status }) => status)).toEqual([500, 200])
  expect(pages[0]?.html).toContain('src="/assets/index.js"')
  await read(`/posts/${last.id}`)
  await expect.poll(async () => (await read(`/posts/${whole.id}?cursor=1`)).status).toBe(200)
})
