import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import type { Post } from '../contract/posts.ts'
import { tap, write } from './testing/hands.ts'
import { test } from './testing/journey.ts'
import { postTexts, postWith } from './testing/page/feed.ts'
import { refuseNews } from './testing/page/network.ts'
import { clickToLoad } from './testing/page/tab.ts'
import { noScripts, whenScriptsRun } from './testing/when-scripts-run.ts'

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

test('without scripts all can be read, and only links are shown', async ({ journey }) => {
  const page = await journey.visit({ javaScriptEnabled: false, waitsForScripts: false })
  expect(await postTexts(page)).toHaveLength(10)
  const buttons = page.locator('button:visible')
  expect(await buttons.count()).toBe(0)
  expect(await page.locator('time').first().getAttribute('title')).toMatch(EXACT_TIME)
  await page.getByRole('heading', { level: 1, name: 'Стена' }).waitFor()
  await noScripts(page).waitFor()
  await page.getByText('«Вслух» — стена коротких записей').waitFor()
  await page.getByRole('banner').getByRole('link', { name: 'Вслух', exact: true }).waitFor()
  for (const position of [2, 3]) {
    await clickToLoad(page.getByRole('link', { name: 'Дальше' }))
    expect(page.url()).toContain('?cursor=')
    expect((await postTexts(page)).length, `part ${position}`).toBeGreaterThan(5)
  }
  expect((await postTexts(page)).at(-1)).toBe('Запись 1')
  expect(await page.getByRole('link', { name: 'Дальше' }).count()).toBe(0)
  await clickToLoad(page.getByRole('link', { name: 'К началу' }))

  await clickToLoad(postWith(page, 'Разговор').locator('a[href^="/posts/"]'))
  await page.getByRole('heading', { level: 1, name: 'Запись' }).waitFor()
  await postWith(page, 'Разговор').getByText(EXACT_TIME).waitFor()
  await postWith(page, 'Ответ 12').waitFor()
  await clickToLoad(page.getByRole('link', { name: 'Дальше' }))
  await postWith(page, 'Ответ 1').first().waitFor()
  expect(await postWith(page, 'Разговор').count()).toBe(1)
  expect(await buttons.count()).toBe(0)

  await page.goto(`${journey.url}/search`)
  await write(page.getByRole('searchbox'), 'запись')
  await tap(page.getByRole('button', { name: 'Найти' }))
  await clickToLoad(page.getByRole('link', { name: 'Дальше' }))
  await clickToLoad(page.getByRole('link', { name: 'К началу' }))
  await postWith(page, 'Запись 25').locator('mark', { hasText: 'Запись' }).waitFor()

  await page.goto(`${journey.url}/nowhere`)
  await clickToLoad(page.getByRole('link', { name: 'На стену' }))
  expect(await postTexts(page)).toHaveLength(10)

  await page.goto(`${journey.url}/settings`)
  await clickToLoad(noScripts(page).getByRole('link', { name: 'читать стену' }))
  expect(await postTexts(page)).toHaveLength(10)

  await page.goto(`${journey.url}/about`)
  const boxOf = (it: Page) => it.getByRole('main').locator('a, p, h2, li').first().boundingBox()
  const box = await boxOf(page)
  expect(box?.x).toBeGreaterThan(10)
  expect(await boxOf(await journey.visit({ path: '/about' }))).toEqual(box)
})

test('the first paint waits for nothing: the style is in the page', async ({ journey }) => {
  const html = await (await fetch(`${journey.url}/posts/${talk.id}`)).text()
  expect(html).toMatch(/<html [^>]*data-static.*<style>.{1000}/s)
  expect(html).not.toMatch(
    /rel="(?:stylesheet"(?![^>]* disabled)|modulepreload")|<script[^>]* src=|<noscript/,
  )
})

test('pages are hydrated as they were served, without any call', async ({ journey }) => {
  const calls: string[] = []
  const page = await journey.visit({
    path: '/about',
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
  for (const [address, text] of [
    ['/', 'Разговор'],
    [`/?cursor=${encodeURIComponent(nextCursor)}`, 'Запись 10'],
    [`/posts/${talk.id}`, 'Ответ 12'],
    [`/posts/${posts[0].id}`, 'Разговор'],
  ] as const) {
    await page.goto(journey.url + address)
    await postWith(page, text).first().waitFor()
    await page.getByRole('button', { name: 'Тёмная тема' }).waitFor()
    await page.waitForLoadState('networkidle')
    expect(calls, address).toEqual([])
    expect(await page.locator('time').first().getAttribute('title')).not.toContain('UTC')
  }
  await page.goto(`${journey.url}//evil.example`)
  await whenScriptsRun(page)
  await page.getByRole('heading', { name: 'Страница не существует' }).waitFor()
})

test('visitors see the introduction until they close it', async ({ journey }) => {
  const page = await journey.visit()
  const intro = page.getByText('«Вслух» — стена коротких записей')
  await intro.waitFor()
  const top = () => page.getByRole('article').first().boundingBox()
  const below = await top()
  await tap(page.getByRole('button', { name: 'Скрыть' }))
  await intro.waitFor({ state: 'hidden' })
  expect((await top())?.y).toBeLessThan(below?.y ?? 0)

  await page.reload()
  await whenScriptsRun(page)
  expect(await postTexts(page)).toHaveLength(10)
  expect(await intro.isVisible()).toBe(false)
})

test('a copy of a page in an archive stays readable', async ({ journey }) => {
  const { url } = journey
  const page = await journey.visit({ path: `/posts/${talk.id}` })
  const html = await (await page.request.get(`${url}/posts/${talk.id}`)).text()
  const copy = `${url}/web/20260101/${url}/posts/${talk.id}`
  await page.route(copy, (route) => route.fulfill({ contentType: 'text/html', body: html }))
  await page.goto(copy)
  await noScripts(page).waitFor()
  await postWith(page, 'Разговор').waitFor()
  expect(await page.getByText('Страница не существует').count()).toBe(0)
})
