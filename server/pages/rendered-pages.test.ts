import { getPriority } from 'node:os'
import { expect, test } from 'vitest'
import { type FirstPage, OPEN_SITE } from '../../contract/pages.ts'
import { WEB_FILES } from '../testing/fake-web-app.ts'
import { appForFile, appForTest, testPerNode } from '../testing/test-app.ts'

const SESSION = { cookie: 'session=whatever' }

const app = await appForFile()
const olga = await app.signUp()

async function read(path: string, headers: Record<string, string> = {}, url = app.url) {
  const answer = await fetch(url + path, { headers, redirect: 'manual' })
  return { status: answer.status, headers: answer.headers, html: await answer.text() }
}

/** What the browser's app is told that the page shows. */
function firstPage(html: string): FirstPage | undefined {
  const json = /<script type="application\/json" id="first-page">(.*?)<\/script>/s.exec(html)?.[1]
  return json === undefined ? undefined : JSON.parse(json)
}

test('the wall is rendered for visitors, with the JSON that the browser would ask for first', async () => {
  await app.publish(olga, 'Слышно?')
  const { status, html, headers } = await read('/')
  expect(status).toBe(200)
  expect(html).toContain('>Вслух wall /</main></div>')
  const first = firstPage(html)
  expect(first).toMatchObject({ shows: 'wall', cursor: '' })
  expect(first?.shows === 'wall' && first.posts).toEqual((await app.call('GET', '/posts')).body)
  expect(Math.abs((first?.now ?? 0) - Date.now() / 1000)).toBeLessThan(5)
  expect(headers.get('vary')).toBe('Cookie, Accept-Encoding')
  expect(headers.get('cache-control')).toMatch(/^public, max-age=0, s-maxage=1, stale-while-/)
})

testPerNode('limits counted in memory, by each node for itself')(
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
    const first = firstPage((await read(`/posts/${posts[at]?.id}`)).html)
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
  const first = firstPage((await read(`/posts/${id}?from=somewhere`)).html)
  if (first?.shows !== 'post') throw new Error('The page shows no post')
  expect([first.post.text, first.replies.posts.length]).toEqual(['Кто здесь?', 10])
  const cursor = first.replies.nextCursor ?? ''
  const next = await read(`/posts/${id}?cursor=${encodeURIComponent(cursor)}&from=somewhere`)
  expect(next.html).toContain(`/posts/${id}?cursor=`)
  expect(firstPage(next.html)).toMatchObject({ shows: 'post', cursor, replies: { posts: [{}] } })
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
  for (const [path, id] of [
    ['/users/Petr_now', post.id],
    ['/users/Petr_now/replies', reply.id],
  ] as const) {
    const { html } = await read(path)
    expect(html).toContain('<title>Petr_now - Вслух</title>')
    expect(html).toContain('href="/users/Petr_now/posts.atom"')
    const first = firstPage(html)
    if (first?.shows !== 'author') throw new Error('The page shows no author')
    expect([first.author.id, first.posts.posts.map((it) => it.id)]).toEqual([petr.id, [id]])
  }
  for (const path of ['/users/petr_NOW', '/users/petr_before']) {
    const { status, headers } = await read(`${path}/replies`)
    expect([status, headers.get('location')]).toEqual([302, '/users/Petr_now/replies'])
  }
  const missing = await read('/users/no_such_author')
  expect([missing.status, firstPage(missing.html)?.shows]).toEqual([404, 'missing author'])
  expect(missing.html).toContain('Автор не найден')
})

test('users get the visitors’ page, which no proxy may store', async () => {
  const { id } = await app.publish(olga, 'Видно всем')
  await app.call('POST', `/posts/${id}/likes`, { token: olga.token })
  const withoutTimes = (html: string) => html.replace(/data-count="\d+"|"now":\d+/g, '')
  for (const path of ['/', `/posts/${id}`, '/rules']) {
    const { html, headers } = await read(path, { cookie: olga.cookie })
    expect(headers.get('cache-control')).toBe('private, no-cache')
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

test('a missing post and a missing page are rendered too, with 404', async () => {
  for (const [path, shows] of [
    ['/posts/999999', 'missing post'],
    ['/posts/abc', 'missing post'],
    ['/nowhere', 'nothing'],
  ] as const) {
    const { status, html } = await read(path)
    expect([status, firstPage(html)]).toEqual([404, { now: 0, site: OPEN_SITE, shows }])
  }
  // The part of the build that the server runs is not public.
  for (const path of Object.keys(WEB_FILES).filter((it) => it.startsWith('.'))) {
    expect((await read(`/${path}`)).status).toBe(404)
  }
})

const perNode = testPerNode('responses that each node caches for itself')

perNode('a page is the same for its browser until something on it has changed', async () => {
  await app.publish(olga)
  let etag = ''
  const again = () => read('/', { 'if-none-match': etag })
  // The post's own news may still arrive, after which the page is made once more.
  await expect
    .poll(async () => {
      etag = (await read('/')).headers.get('etag') ?? ''
      return (await again()).status
    })
    .toBe(304)
  // The fake app writes its count into the page: then it is another page.
  await expect.poll(async () => (await again()).status).toBe(200)
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
