import { globSync, readFileSync } from 'node:fs'
import type { Page, Request, Response } from 'playwright-core'
import { expect } from 'vitest'
import { FIRST_SCRIPTS_MAX } from '../scripts/first-scripts.ts'
import type { TestUser } from '../server/testing/http/client.ts'
import { DESKTOP, PHONE, test } from './testing/journey.ts'
import { describeShifts, recordShifts, sumOfShifts } from './testing/layout-shifts.ts'
import { reportByApi, signUpModerator } from './testing/moderation-actions.ts'
import { postWith } from './testing/page/feed.ts'
import { scroll } from './testing/page/layout.ts'
import { refuseNews, slowDown, spareBytes } from './testing/page/network.ts'

const TEXT = 'Запись, которой хватает слов на несколько строк, и на телефоне тоже. Номер'
const POSTS = 30
const SHIFT_AT_MOST = 0.02
const SPARED_AT_MOST = 75_000
/** Of ten short texts that are alike. Ten real texts compress worse, to 2 KB more. */
const PAGE_AT_MOST = 15 * 1024

test.beforeEach(({ journey, olga }) => journey.fillWall(olga, POSTS, TEXT))

test('a first visit loads a page of 15 KB and 120 KB of scripts at most', async ({ journey }) => {
  const responses: Response[] = []
  const page = await journey.visit({
    before: async (it) => {
      await refuseNews(it)
      it.on('response', (response) => responses.push(response))
    },
  })
  await page.waitForLoadState('networkidle')
  const ofType = (type: string) =>
    responses.filter((response) => response.request().resourceType() === type)
  const scripts = ofType('script')
  const sizes = await Promise.all(scripts.map((script) => sizeAsGzip(script.url())))
  const total = sizes.reduce((sum, size) => sum + size, 0)
  // A smaller sum would mean that some scripts were not counted.
  expect(total).toBeGreaterThan(60 * 1024)
  expect(total).toBeLessThanOrEqual(FIRST_SCRIPTS_MAX)
  for (const script of scripts) {
    if ((await script.body()).length <= 1024) continue
    expect(await script.allHeaders()).toMatchObject({ 'content-encoding': 'br' })
  }
  const size = await transferOf(ofType('document')[0]?.request() as Request)
  expect(size).toBeLessThanOrEqual(PAGE_AT_MOST)
})

test('with data saving on, the wall and one post transfer at most 75 KB', async ({ journey }) => {
  const sizes: Promise<number>[] = []
  const page = await journey.visit({
    hasTouch: true,
    waitsForScripts: false,
    before: async (it) => {
      await spareBytes(it)
      it.on('requestfinished', (request) => sizes.push(transferOf(request)))
    },
  })
  await page.waitForLoadState('networkidle')
  await postWith(page, `${TEXT} ${POSTS}`).getByText(TEXT).tap()
  await page.waitForURL('**/posts/*')
  await page.waitForLoadState('networkidle')
  const total = (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0)
  expect(total).toBeGreaterThan(10 * 1024)
  expect(total).toBeLessThanOrEqual(SPARED_AT_MOST)
})

test('on a slow network fonts and more posts shift nothing', async ({ journey }) => {
  const page = await journey.visit({ before: (it) => loadSlowly(it, false) })
  await page.getByRole('article').first().waitFor()
  const fonts = await page.evaluate(async () => (await document.fonts.ready).size)
  expect(fonts).toBeGreaterThan(0)
  for (let read = 10; read < POSTS; ) {
    await scroll(page, 400)
    read = await page.getByRole('article').count()
  }
  const sum = await sumOfShifts(page)
  expect(sum, await describeShifts(page)).toBeLessThanOrEqual(SHIFT_AT_MOST)

  // The measurement detects a shift.
  await page.evaluate(() => {
    const wedge = document.createElement('div')
    wedge.style.height = '200px'
    document.querySelector('main')?.prepend(wedge)
    scrollTo(0, 0)
  })
  await expect.poll(() => sumOfShifts(page)).toBeGreaterThan(SHIFT_AT_MOST)
})

test('on a slow network no kind of page shifts as it loads', async ({ journey, olga, petr }) => {
  const vera = await signUpModerator(journey)
  const post = await journey.publish(olga, TEXT)
  const own = await journey.publish(vera, `${TEXT} 62`)
  for (const user of [olga, petr]) {
    for (const n of [1, 2, 3]) await journey.reply(user, own.id, `${TEXT.repeat(3)} ${n}`)
  }
  await reportByApi(journey, petr, post)
  const { id } = await journey.publish(vera, 'Удалена')
  await journey.removePosts('id', id)
  const search = { '/search?q=слов': TEXT }
  const thread = { [`/posts/${own.id}`]: `${TEXT} 1` }
  const author = { [`/users/${olga.username}`]: TEXT }
  const load = async (as: TestUser | undefined, viewport: typeof PHONE, screens: Screens) => {
    const page = await journey.visit({
      ...(as && { as }),
      viewport,
      path: '/livez',
      waitsForScripts: false,
      before: async (it) => {
        await refuseNews(it)
        // Pages of users preload every chunk, which takes long without a cache.
        await loadSlowly(it, !as)
      },
    })
    for (const [path, text] of Object.entries(screens)) {
      const idle = { waitUntil: 'networkidle', timeout: 60_000 } as const
      await page.goto(journey.url + path, idle)
      await page.getByText(text).first().waitFor()
      const where = `${path}, ${viewport.width} px: ${await describeShifts(page)}`
      expect(await sumOfShifts(page), where).toBeLessThan(0.001)
    }
  }
  // Two at the same time, since each waits for its slow network.
  await Promise.all([
    load(undefined, PHONE, { ...thread, ...search, ...author, '/rules': 'Правила' }),
    load(undefined, DESKTOP, search),
  ])
  await Promise.all([
    load(vera, PHONE, {
      ...thread,
      [`/users/${vera.username}`]: `${TEXT} 62`,
      '/replies': `${TEXT} 3`,
      '/settings/devices': 'Firefox',
    }),
    load(vera, DESKTOP, {
      '/moderation': 'Ждут решения',
      '/own/posts': TEXT,
      '/settings': 'Выйти',
    }),
  ])
})

test('no schema library reaches the browser', () => {
  // TypeBox marks each of its schemas with a property that minifiers do not rename.
  const withSchemas = (pattern: string) =>
    globSync(pattern).filter((path) => readFileSync(path, 'utf8').includes('~kind'))
  expect(withSchemas('node_modules/typebox/build/**/*.mjs')).not.toEqual([])
  expect(globSync('dist/web/assets/*.js').length).toBeGreaterThan(3)
  expect(withSchemas('dist/web/assets/*.js')).toEqual([])
})

type Screens = Record<string, string>

async function transferOf(request: Request): Promise<number> {
  const { responseHeadersSize, responseBodySize } = await request.sizes()
  return responseHeadersSize + responseBodySize
}

/** The size of a file in bytes as the server sends it to a client that accepts gzip. */
async function sizeAsGzip(url: string): Promise<number> {
  const answer = await fetch(url, { method: 'HEAD', headers: { 'accept-encoding': 'gzip' } })
  return Number(answer.headers.get('content-length'))
}

/** Slows the network to 3 Mbit/s with 80 ms of latency, and records layout shifts. */
async function loadSlowly(page: Page, cacheDisabled: boolean): Promise<void> {
  const network = await slowDown(page, 80, 400_000)
  await network.send('Network.setCacheDisabled', { cacheDisabled })
  await recordShifts(page)
}
