import { globSync, readFileSync } from 'node:fs'
import { get } from 'node:http'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import type { Page, Request, Response } from 'playwright-core'
import { expect } from 'vitest'
import { FIRST_SCRIPTS_MAX } from '../scripts/first-scripts.ts'
import { DESKTOP, type Journey, PHONE, test } from './testing/journey.ts'
import { describeShifts, recordShifts, sumOfShifts } from './testing/layout-shifts.ts'
import { reportByApi, signUpModerator } from './testing/moderation-actions.ts'
import { postWith, refuseNews, scroll, spareBytes } from './testing/page-actions.ts'

const TEXT = 'Запись, которой хватает слов на несколько строк, и на телефоне тоже. Номер'
const SHIFT_AT_MOST = 0.02
const SPARED_AT_MOST = 75_000
/** Ten segments of TCP (RFC 6928). */
const FIRST_FLIGHT = 14_600
/** Ten real texts compress worse than these, which are alike. */
const ROOM_FOR_TEXTS = 200

test.beforeEach(({ journey, olga }) => journey.fillWall(olga, 60, TEXT))

test('a first visit to the wall takes at most 110 KB of script as gzip', async ({ journey }) => {
  const responses = await firstVisit(journey)
  const scripts = responses.filter((response) => response.request().resourceType() === 'script')
  const sizes = await Promise.all(scripts.map((script) => sizeAsGzip(script.url())))
  const total = sizes.reduce((sum, size) => sum + size, 0)
  // A smaller sum would mean that some scripts were not counted.
  expect(total).toBeGreaterThan(60 * 1024)
  expect(total).toBeLessThanOrEqual(FIRST_SCRIPTS_MAX)
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
  await postWith(page, `${TEXT} 60`).getByText(TEXT).tap()
  await page.waitForURL('**/posts/*')
  await page.waitForLoadState('networkidle')
  const total = (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0)
  expect(total).toBeGreaterThan(10 * 1024)
  expect(total).toBeLessThanOrEqual(SPARED_AT_MOST)
})

test('no schema library reaches the browser: only types and plain constants of the contract do', () => {
  expect(scriptsWithSchemas('node_modules/typebox/build/**/*.mjs')).not.toEqual([])
  expect(scripts('dist/web/assets/*.js').length).toBeGreaterThan(3)
  expect(scriptsWithSchemas('dist/web/assets/*.js')).toEqual([])
})

test('the wall fits into the first flight of TCP', async ({ journey }) => {
  const responses = await firstVisit(journey)
  const page = responses.find((it) => it.request().resourceType() === 'document')
  expect(await transferOf(page?.request() as Request)).toBeLessThanOrEqual(
    FIRST_FLIGHT - ROOM_FOR_TEXTS,
  )
})

test('assets are cached for ever and compressed at build time; the page itself is revalidated', async ({
  journey,
}) => {
  const responses = await firstVisit(journey)
  const assets = responses.filter((it) => new URL(it.url()).pathname.startsWith('/assets/'))
  expect(assets.length).toBeGreaterThan(3)
  for (const asset of assets) {
    const headers = await asset.allHeaders()
    expect(headers['cache-control']).toMatch(/max-age=31536000, immutable/)
    const worthCompressing = (await asset.body()).length > 1024
    if (worthCompressing && /\.(?:js|css)$/.test(asset.url())) {
      expect(headers).toMatchObject({ 'content-encoding': 'br' })
    }
  }
  const html = responses.find((response) => response.request().resourceType() === 'document')
  expect(await html?.headerValue('cache-control')).toMatch(/^public, max-age=0, /)
})

test('the first posts come with the page: nothing is requested for them', async ({ journey }) => {
  const responses = await firstVisit(journey)
  const asked = responses.filter((it) => it.url().includes('/api/'))
  expect(asked.filter((it) => it.request().resourceType() !== 'eventsource')).toEqual([])
  const html = responses.find((it) => it.request().resourceType() === 'document')
  expect(await html?.text()).toContain(TEXT)
})

test('on a slow network the layout does not shift while the page, its fonts and more posts load', async ({
  journey,
}) => {
  const page = await journey.visit({ before: slowLine })
  await page.getByRole('article').first().waitFor()
  expect(await page.evaluate(() => document.fonts.ready.then(({ size }) => size))).toBeGreaterThan(
    0,
  )
  for (let read = 10; read < 60; ) {
    await scroll(page, 400)
    read = await page.getByRole('article').count()
  }
  expect(await sumOfShifts(page)).toBeLessThanOrEqual(SHIFT_AT_MOST)
})

test.for(['author', 'post', 'search', 'text', 'settings'])(
  'on a slow network nothing shifts on a page of this kind: %s',
  async (kind, { journey, olga, petr }) => {
    const post = await journey.publish(olga, TEXT)
    await journey.reply(petr, post.id, TEXT)
    const paths: Record<string, string> = {
      author: `/users/${olga.username}`,
      post: `/posts/${post.id}`,
      search: '/search?q=слов',
      text: '/rules',
      settings: '/settings',
    }
    const path = paths[kind] ?? ''
    const before = async (page: Page) => {
      // An open news stream would keep the network busy.
      await refuseNews(page)
      await slowLine(page)
    }
    for (const as of kind === 'settings' ? [petr] : [undefined, petr]) {
      const page = await journey.visit({ path, before, ...(as && { as }) })
      await page.waitForLoadState('networkidle')
      const where = `${kind}, ${as ? 'signed in' : 'a visitor'}: ${await describeShifts(page)}`
      expect(await sumOfShifts(page), where).toBeLessThan(0.001)
    }
  },
)

test('nothing shifts while a user’s page, or any page on a wide screen, loads its data', async ({
  journey,
  olga,
  petr,
}) => {
  const vera = await signUpModerator(journey)
  const post = await journey.publish(olga, TEXT)
  const own = await journey.publish(vera, `${TEXT} 62`)
  // Each list is longer than the window, so its end is out of sight.
  await journey.fillThread(
    vera,
    post.id,
    Array.from({ length: 12 }, (_, n) => `Ответ ${n}`),
  )
  for (const user of [olga, petr]) {
    for (const n of [1, 2, 3]) await journey.reply(user, own.id, `${TEXT.repeat(3)} ${n}`)
  }
  await journey.call('POST', `/posts/${post.id}/likes`, { token: vera.token })
  await reportByApi(journey, petr, { postId: post.id })
  const open = {
    [`/users/${olga.username}`]: TEXT,
    [`/posts/${own.id}`]: `${TEXT} 1`,
    '/search?q=слов': TEXT,
    '/rules': 'Правила',
  }
  const forUsers = {
    '/liked': TEXT,
    '/own/posts': TEXT,
    '/own/replies': 'Ответ 11',
    '/replies': `${TEXT} 3`,
    '/settings': 'Выйти',
    '/settings/devices': 'Firefox',
    '/moderation': 'Ждут решения',
  }
  const before = async (page: Page) => {
    await refuseNews(page)
    await recordShifts(page)
  }
  for (const [visit, screens] of [
    [{ as: vera, viewport: PHONE }, forUsers],
    [{ as: vera, viewport: DESKTOP }, forUsers],
    [{ viewport: DESKTOP }, open],
  ] as const) {
    const page = await journey.visit({ ...visit, before })
    for (const [path, text] of Object.entries(screens)) {
      await page.goto(journey.url + path, { waitUntil: 'networkidle' })
      await page.getByText(text).first().waitFor()
      const where = `${path}, ${visit.viewport.width} px`
      expect(await sumOfShifts(page), where).toBeLessThan(0.001)
    }
  }
})

test('the layout shift measurement detects a shift', async ({ journey }) => {
  const page = await journey.visit({ before: slowLine })
  await page.getByRole('article').first().waitFor()
  await page.evaluate(() => {
    const wedge = document.createElement('div')
    wedge.style.height = '200px'
    document.querySelector('main')?.prepend(wedge)
  })
  await expect.poll(() => sumOfShifts(page)).toBeGreaterThan(SHIFT_AT_MOST)
})

const ROOT = join(import.meta.dirname, '..')
const scripts = (pattern: string) => globSync(pattern, { cwd: ROOT })

/** TypeBox marks each of its schemas with a property that minifiers do not rename. */
function scriptsWithSchemas(pattern: string): string[] {
  return scripts(pattern).filter((path) => readFileSync(join(ROOT, path), 'utf8').includes('~kind'))
}

/**
 * Every response that a first visit to the wall loads until the network is idle, before any tap.
 */
async function firstVisit(journey: Journey): Promise<Response[]> {
  const responses: Response[] = []
  const page = await journey.visit({
    before: async (it) => {
      await refuseNews(it)
      it.on('response', (response) => responses.push(response))
    },
  })
  await postWith(page, `${TEXT} 60`).waitFor()
  await page.waitForLoadState('networkidle')
  return responses
}

async function transferOf(request: Request): Promise<number> {
  const { responseHeadersSize, responseBodySize } = await request.sizes()
  return responseHeadersSize + responseBodySize
}

/** The size of a file in bytes as the server sends it to a client that accepts gzip. */
async function sizeAsGzip(url: string): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>()
  get(url, { headers: { 'accept-encoding': 'gzip' } }, (response) =>
    buffer(response).then(resolve, reject),
  ).once('error', reject)
  return (await promise).length
}

/** Slows the network to 3 Mbit/s with 80 ms of latency, and records layout shifts. */
async function slowLine(page: Page): Promise<void> {
  const network = await page.context().newCDPSession(page)
  await network.send('Network.emulateNetworkConditions', {
    offline: false,
    latency: 80,
    downloadThroughput: 400_000,
    uploadThroughput: 100_000,
  })
  await recordShifts(page)
}
