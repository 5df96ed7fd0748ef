import type { Page, Response } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { TestUser } from '../server/testing/client.ts'
import { eventually, postWith, scroll } from './testing/parts.ts'
import { openStage, type Stage } from './testing/stage.ts'

const POSTS = 1000
const SLOWDOWN = 4

let stage: Stage
let olga: TestUser
beforeAll(async () => {
  stage = await openStage()
  olga = await stage.signUp()
  await stage.fillWall(olga, POSTS, 'Длинная запись, в которой хватает слов на несколько строк: и на две, и на три. Запись')
})
afterAll(() => stage?.close())

test('a first visit to the wall takes at most 120 KB of script as gzip', async () => {
  let bytes = 0
  const page = await stage.visit({
    before: async (page) => {
      const network = await page.context().newCDPSession(page)
      await network.send('Network.enable')
      await network.send('Network.setAcceptedEncodings', { encodings: ['gzip'] })
      const scripts = new Set<string>()
      network.on('Network.responseReceived', ({ requestId, type, response }) => {
        if (type !== 'Script') return
        scripts.add(requestId)
        expect(response.headers['content-encoding'] ?? 'none').toBe('gzip')
      })
      network.on('Network.loadingFinished', ({ requestId, encodedDataLength }) => {
        if (scripts.has(requestId)) bytes += encodedDataLength
      })
    },
  })
  await postWith(page, `Запись ${POSTS}`).waitFor()
  await page.waitForLoadState('networkidle')
  console.log('script bytes', bytes)
  expect(bytes).toBeGreaterThan(10_000)
  expect(bytes).toBeLessThanOrEqual(120 * 1024)
})

test('what the page is made of is kept for ever and was packed beforehand', async () => {
  const responses: Response[] = []
  const page = await stage.visit({
    before: async (page) => page.on('response', (response) => responses.push(response)),
  })
  await postWith(page, `Запись ${POSTS}`).waitFor()
  await page.waitForLoadState('networkidle')
  const assets = responses.filter((response) => new URL(response.url()).pathname.startsWith('/assets/'))
  expect(assets.length).toBeGreaterThan(3)
  for (const asset of assets) {
    const headers = asset.headers()
    expect(headers['cache-control']).toMatch(/max-age=31536000.*immutable/)
    if (/\.(?:js|css)$/.test(asset.url())) expect([asset.url(), headers['content-encoding']]).toEqual([asset.url(), 'br'])
  }
  const html = responses.find((response) => response.request().resourceType() === 'document')
  expect(html?.headers()['cache-control']).toBe('no-cache')
})

test('nothing shifts while the first page, the fonts and further pages arrive over a slow line', async () => {
  const page = await stage.visit({
    before: async (page) => {
      const network = await page.context().newCDPSession(page)
      await network.send('Network.emulateNetworkConditions', {
        offline: false,
        latency: 80,
        downloadThroughput: 400_000,
        uploadThroughput: 100_000,
      })
      await page.addInitScript(() => {
        const shifts: { value: number; nodes: string[] }[] = []
        Reflect.set(window, 'shifts', shifts)
        new PerformanceObserver((list) => {
          for (const entry of list.getEntries() as (PerformanceEntry & { value: number; sources: { node: Node | null }[] })[]) {
            const nodes = entry.sources.map(({ node }) => (node instanceof Element ? node.outerHTML.slice(0, 80) : String(node?.textContent)))
            shifts.push({ value: entry.value, nodes })
          }
        }).observe({ type: 'layout-shift', buffered: true })
      })
    },
  })
  await postWith(page, `Запись ${POSTS}`).waitFor()
  await page.evaluate(() => document.fonts.ready)
  for (const count of [20, 30, 40]) {
    await eventually(async () => {
      await scroll(page, 300)
      return (await page.getByRole('article').count()) >= count
    }, true)
  }
  const shifts = await page.evaluate(() => Reflect.get(window, 'shifts') as { value: number; nodes: string[] }[])
  console.log(JSON.stringify(shifts))
  expect(shifts.reduce((sum, { value }) => sum + value, 0)).toBeLessThanOrEqual(0.02)
})

test('no task keeps a slow machine for more than 100 ms while one scrolls through 1,000 posts', async () => {
  const page = await stage.visit()
  await postWith(page, `Запись ${POSTS}`).waitFor()
  const began = Date.now()
  await page.route('**/posts?*cursor=*', (route) =>
    route.continue({ url: route.request().url().replace('limit=10', 'limit=50') }),
  )
  await readTo(page, POSTS - 40)
  console.log('loaded in', Date.now() - began)
  await page.unroute('**/posts?*cursor=*')
  const cpu = await page.context().newCDPSession(page)
  await cpu.send('Emulation.setCPUThrottlingRate', { rate: SLOWDOWN })
  await page.evaluate(() => {
    const tasks: unknown[] = []
    Reflect.set(window, 'tasks', tasks)
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries()) tasks.push({ type: entry.entryType, d: Math.round(entry.duration), s: Math.round(entry.startTime), ...(entry.entryType === 'long-animation-frame' ? { b: entry.blockingDuration, r: entry.renderStart - entry.startTime, st: entry.styleAndLayoutStart - entry.startTime, scripts: entry.scripts.map((s) => `${s.invoker} ${Math.round(s.duration)} ${Math.round(s.forcedStyleAndLayoutDuration)}`) } : {}) })
    }).observe({ type: 'longtask' })
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries()) tasks.push({ type: entry.entryType, d: Math.round(entry.duration), s: Math.round(entry.startTime), b: Math.round(entry.blockingDuration), r: Math.round(entry.renderStart - entry.startTime), st: Math.round(entry.styleAndLayoutStart - entry.startTime), scripts: entry.scripts.map((s) => `${s.invoker} ${Math.round(s.duration)} ${Math.round(s.forcedStyleAndLayoutDuration)}`) })
    }).observe({ type: 'long-animation-frame' })
  })
  await readTo(page, POSTS)
  console.log('read on in', Date.now() - began, JSON.stringify(await page.evaluate(() => Reflect.get(window, 'tasks')), null, 0).replaceAll('},{', '},\n{'))
  await page.evaluate(() => Reflect.get(window, 'tasks').length = 0)
  for (let step = 0; step < 20; step++) { await scroll(page, -3000); await page.evaluate(() => new Promise(requestAnimationFrame)) }
  console.log('scrolled up', Date.now() - began, JSON.stringify(await page.evaluate(() => Reflect.get(window, 'tasks')), null, 0).replaceAll('},{', '},\n{'))
})

async function readTo(page: Page, count: number): Promise<void> {
  await eventually(async () => {
    await scroll(page, 20_000)
    return (await page.getByRole('article').count()) >= count
  }, true)
}
