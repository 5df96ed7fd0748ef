import type { Locator, Page } from 'playwright-core'
import { expect } from 'vitest'
import type { Post } from '../contract/posts.ts'
import { type Journey, test, type Visit } from './testing/journey.ts'
import { followLink, postTexts, postWith, refuseNews } from './testing/page-actions.ts'
import { whenScriptsRun } from './testing/when-scripts-run.ts'

/** The server does not know the reader's time zone, so it names UTC. */
const EXACT_TIME = /^\d{1,2} [а-я]+ \d{4}, \d\d:\d\d UTC$/
const READS = /\/api\/v1\/(?:posts|users|sessions)/

let talk: Post
test.beforeEach(async ({ journey, olga }) => {
  await journey.fillWall(olga, 25)
  talk = await journey.publish(
    olga,
    'Разговор: https://example.org/раз http://xn--e1afmkfd.xn--p1ai/ и http://пример.рф </script>',
  )
  const texts = Array.from({ length: 12 }, (_, n) => `Ответ ${n + 1}`)
  await journey.fillThread(olga, talk.id, texts)
})

function visibleButtons(page: Page): Promise<number> {
  return page.locator('button:visible').count()
}

test('without scripts everything can be read, every link works, and no control is shown that would do nothing', async ({
  journey,
}) => {
  const page = await journey.visit({ javaScriptEnabled: false, waitsForScripts: false })
  expect(await postTexts(page)).toHaveLength(10)
  expect(await visibleButtons(page)).toBe(0)
  expect(await page.locator('time').first().getAttribute('title')).toMatch(EXACT_TIME)
  await page.getByRole('heading', { level: 1, name: 'Стена' }).waitFor()
  await page.getByText('«Вслух» — стена коротких записей').waitFor()
  await page.getByRole('banner').getByRole('link', { name: 'Вслух', exact: true }).waitFor()
  for (const position of [2, 3]) {
    await followLink(page.getByRole('link', { name: 'Дальше' }))
    expect(page.url()).toContain('?cursor=')
    expect((await postTexts(page)).length, `part ${position}`).toBeGreaterThan(5)
  }
  expect((await postTexts(page)).at(-1)).toBe('Запись 1')
  expect(await page.getByRole('link', { name: 'Дальше' }).count()).toBe(0)
  await followLink(page.getByRole('link', { name: 'К началу' }))

  await followLink(postWith(page, 'Разговор').locator('a[href^="/posts/"]'))
  await page.getByRole('heading', { level: 1, name: 'Запись' }).waitFor()
  await postWith(page, 'Разговор').getByText(EXACT_TIME).waitFor()
  await postWith(page, 'Ответ 12').waitFor()
  await followLink(page.getByRole('link', { name: 'Дальше' }))
  await postWith(page, 'Ответ 1').first().waitFor()
  expect(await postWith(page, 'Разговор').count()).toBe(1)
  expect(await visibleButtons(page)).toBe(0)

  await page.goto(`${journey.url}/nowhere`)
  await followLink(page.getByRole('link', { name: 'На стену' }))
  expect(await postTexts(page)).toHaveLength(10)
})

test('the first paint waits for nothing: the style is in the page, and its scripts are fetched after it', async ({
  journey,
}) => {
  const html = await (await fetch(`${journey.url}/posts/${talk.id}`)).text()
  expect(html).toMatch(/<html [^>]*data-static.*<style>.{1000}/s)
  expect(html).not.toMatch(
    /rel="(?:stylesheet"(?![^>]* disabled)|modulepreload")|<script[^>]* src=|<noscript/,
  )
})

test('the wall, its later parts, posts and replies are hydrated as they were served, without any call', async ({
  journey,
}) => {
  const calls: string[] = []
  const page = await journey.visit({
    // Wide enough for the rail with its toggle, and so low that the list loads no more.
    viewport: { width: 800, height: 400 },
    timezoneId: 'Asia/Vladivostok',
    colorScheme: 'light',
    before: async (it) => {
      await refuseNews(it)
      await it.addInitScript(() => localStorage.setItem('theme', 'light'))
      it.on('request', (request) => READS.test(request.url()) && calls.push(request.url()))
    },
  })
  const { nextCursor } = (await journey.call('GET', '/posts?limit=10')).body
  const { posts } = (await journey.call('GET', `/posts/${talk.id}/replies`)).body
  for (const [path, text] of [
    ['/', 'Разговор'],
    [`/?cursor=${encodeURIComponent(nextCursor)}`, 'Запись 10'],
    [`/posts/${talk.id}`, 'Ответ 12'],
    [`/posts/${posts[0].id}`, 'Разговор'],
  ] as const) {
    await page.goto(journey.url + path)
    await postWith(page, text).first().waitFor()
    await page.getByRole('button', { name: 'Тёмная тема' }).waitFor()
    await page.waitForLoadState('networkidle')
    expect(calls, path).toEqual([])
    expect(await page.locator('time').first().getAttribute('title')).not.toContain('UTC')
  }
})

/** Opens a page as the server sends it when many are requested at once. */
async function visitPlain(journey: Journey, path: string, visit: Visit = {}): Promise<Page> {
  let cursor = 1000
  /** Requests each page from another network, because limits count per network. */
  const ask = (address: string) => {
    const from = `10.99.${cursor >> 8}.${cursor++ & 255}`
    const headers = { 'accept-encoding': 'identity', 'x-forwarded-for': from }
    return fetch(journey.url + address, { headers })
  }
  let plain: { body: string; headers: Record<string, string> } | undefined
  await expect
    .poll(async () => {
      // A busy machine would send an older cached page, which the app would read again.
      await journey.invalidateCache()
      // Uncached pages, only as many as run at once, because a busy machine refuses queued ones.
      const others = Array.from({ length: 11 }, () => `/?cursor=${cursor++}`)
      const asked = [...others, path].map(ask)
      const answer = (await Promise.all(asked)).at(-1)
      const body = (await answer?.text()) ?? ''
      plain = { body, headers: Object.fromEntries(answer?.headers ?? []) }
      return body.includes('<main data-plain>') && !('age' in plain.headers)
    })
    .toBe(true)
  return journey.visit({
    ...visit,
    path,
    before: async (page) => {
      await page.route(journey.url + path, (route) => route.fulfill(plain))
      await visit.before?.(page)
    },
  })
}

test('a plain page is replaced by its scripts without any call', async ({ journey }) => {
  const path = `/posts/${talk.id}`
  const calls: string[] = []
  const page = await visitPlain(journey, path, {
    viewport: { width: 390, height: 400 },
    before: async (it) => {
      await refuseNews(it)
      it.on('request', (request) => READS.test(request.url()) && calls.push(request.url()))
    },
  })
  await page.getByRole('button', { name: 'Ответить' }).first().waitFor()
  expect(await page.locator('[data-plain]').count()).toBe(0)
  await postWith(page, 'Ответ 12').first().waitFor()
  await page.waitForLoadState('networkidle')
  expect(calls).toEqual([])
})

test('the browser reads an odd address as the server does', async ({ journey }) => {
  const page = await journey.visit()
  for (const [path, spelled, heading] of [
    ['/SETTINGS/#a', '/', 'Стена'],
    ['/posts/%20', '/posts/%20', 'Запись'],
    ['//evil.example', '//evil.example'],
    ['/posts/%zz', '/posts/%zz'],
  ]) {
    await page.goto(journey.url + path)
    await whenScriptsRun(page)
    await page.waitForURL((url) => url.pathname + url.search === spelled)
    const shown = heading ? { level: 1, name: heading } : { name: 'Страница не существует' }
    await page.getByRole('heading', shown).waitFor()
  }
})

test('a page without posts contains its style and looks the same without scripts; one that needs scripts shows that with a link', async ({
  journey,
}) => {
  const still = await journey.visit({
    path: '/about',
    javaScriptEnabled: false,
    waitsForScripts: false,
  })
  const page = await journey.visit({ path: '/about' })
  const boxOf = (it: Page) => it.getByRole('main').locator('a, p, h2, li').first().boundingBox()
  const box = await boxOf(still)
  expect(box?.x).toBeGreaterThan(10)
  expect(await boxOf(page)).toEqual(box)

  await still.goto(`${journey.url}/nowhere`)
  const middleOf = async (it: Locator) => {
    const { x = 0, width = 0 } = (await it.boundingBox()) ?? {}
    return x + width / 2
  }
  const link = await middleOf(still.getByRole('link', { name: 'На стену' }))
  const main = await middleOf(still.getByRole('main'))
  // A browser may place one of the two half a pixel aside.
  expect(Math.abs(link - main)).toBeLessThanOrEqual(0.5)

  await still.goto(`${journey.url}/settings`)
  expect(await still.locator('noscript').innerText()).toMatch(/^Этой странице нужен JavaScript/)
  await followLink(still.locator('noscript a'))
  expect(await postTexts(still)).toHaveLength(10)
})

test('visitors see the introduction until they close it, users never', async ({
  journey,
  olga,
}) => {
  const page = await journey.visit()
  const intro = page.getByText('«Вслух» — стена коротких записей')
  await intro.waitFor()
  const top = () => page.getByRole('article').first().boundingBox()
  const below = await top()
  await page.getByRole('button', { name: 'Скрыть' }).click()
  await intro.waitFor({ state: 'hidden' })
  expect((await top())?.y).toBeLessThan(below?.y ?? 0)

  await page.reload()
  await whenScriptsRun(page)
  expect(await postTexts(page)).toHaveLength(10)
  expect(await intro.isVisible()).toBe(false)

  const user = await journey.visit({ as: olga })
  await user.getByRole('link', { name: /^Профиль / }).waitFor()
  expect(await user.getByText('«Вслух» — стена коротких записей').count()).toBe(0)
})
