import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import { type Journey, testWith } from '../../e2e/testing/journey.ts'
import { proxyWithNextBuild } from '../../e2e/testing/next-build.ts'
import { submitPost } from '../../e2e/testing/page/compose.ts'
import { postWith } from '../../e2e/testing/page/feed.ts'
import { goOffline, goOnline, refuseNews, untilPreloaded } from '../../e2e/testing/page/network.ts'
import { closeByKey } from '../../e2e/testing/page/overlays.ts'
import { whenScriptsRun } from '../../e2e/testing/when-scripts-run.ts'
import type { TestUser } from '../../server/testing/http/client.ts'

const ALLOWED = {
  serviceWorkers: 'allow',
  expectedErrors: /dynamically imported module|Unable to (?:pre)?load/,
} as const
const POSTS_AT_MOST = 50

const test = testWith()
let path: string
test.beforeEach(async ({ journey, petr }) => {
  path = `/posts/${(await journey.publish(petr, 'Слышно и в тоннеле.')).id}`
})

test('after a visit the wall and a post open without the server, other pages show what is wrong, and nothing of the API or the user is stored', async ({
  journey,
  olga,
}) => {
  // While the server is away, the worker answers 503, and what it has not stored cannot be loaded.
  const whileAway = {
    ...ALLOWED,
    expectedErrors: /^503 GET |Unable to load |Failed to fetch dynamically imported/,
  }
  const visitor = await journey.visit(whileAway)
  await pageStored(visitor, '/')
  // The worker stored the page's assets from the browser's HTTP cache, without requests.
  await expect.poll(() => assetRequests(journey).length).toBeGreaterThan(5)
  expect(assetRequests(journey)).toEqual([...new Set(assetRequests(journey))])

  await visitor.evaluate(storeOtherPosts, POSTS_AT_MOST + 5)
  await visitor.goto(journey.url + path)
  await pageStored(visitor, path)
  const count = async () => Object.keys(await storedPages(visitor)).length
  await expect.poll(count).toBe(POSTS_AT_MOST + 1)
  expect(Object.keys(await storedPages(visitor))).toEqual(expect.arrayContaining(['/', path]))

  const member = await journey.visit({ ...whileAway, as: olga })
  await pageStored(member, '/')
  await member.goto(journey.url + path)
  await pageStored(member, path)
  await expectNothingPersonal(member, olga)

  await journey.product.stop()
  for (const page of [visitor, member]) {
    for (const [at, words] of [
      ['/', 'Стена - Вслух'],
      [path, 'Слышно и в тоннеле.'],
    ]) {
      const answer = await page.goto(journey.url + at)
      expect(answer?.fromServiceWorker()).toBe(true)
      expect(await answer?.text()).toContain(words)
      await page.getByRole('article').filter({ hasText: 'Слышно и в тоннеле.' }).waitFor()
      // The app runs: its assets are stored too.
      await whenScriptsRun(page)
    }
  }

  await visitor.goto(`${journey.url}/mistyped`)
  await visitor.getByRole('alert').getByText('Не удалось открыть страницу').waitFor()
  const missing = await visitor.goto(`${journey.url}/posts/999999`)
  expect(missing?.status()).toBe(503)
  const failure = visitor.getByRole('alert')
  await failure.getByText('Сервер не отвечает. Попробуйте чуть позже').waitFor()
  await visitor.context().setOffline(true)
  await failure.getByRole('button', { name: 'Повторить' }).click()
  await failure.getByText('Нет связи. Проверьте интернет и повторите').waitFor()
  await journey.product.start()
  await visitor.context().setOffline(false)
  await visitor.getByText('Запись не найдена').waitFor()

  await member.goto(`${journey.url}/settings`)
  await member.getByRole('button', { name: 'Выйти' }).click()
  await member.getByRole('button', { name: 'Войти' }).waitFor()
  await member.goto(journey.url)
  await expectNothingPersonal(member, olga)
})

test('a stored page shows a notice at every address that leads to it, and is updated when the server answers', async ({
  journey,
  olga,
}) => {
  const { id } = await journey.publish(olga, 'Было')
  const page = await journey.visit(ALLOWED)
  await pageStored(page, '/')
  await journey.product.stop()
  await journey.rows("UPDATE posts SET text = 'Стало' WHERE id = $1", [id])
  const saved = page.getByText('Показана сохранённая версия')
  // Only the beginning of the wall is stored.
  for (const address of ['/?cursor=of-a-later-part', '//', '/?from=somewhere']) {
    await page.goto(journey.url + address)
    await whenScriptsRun(page)
    await saved.waitFor()
    await page.getByText('Было').waitFor()
    expect(new URL(page.url()).searchParams.has('cursor')).toBe(false)
  }
  await journey.product.start()
  await saved.waitFor({ state: 'detached' })
  await page.getByText('Стало').waitFor()
})

test('a text that waits for the network shows after a reload without it, and is sent later', async ({
  journey,
  olga,
}) => {
  const page = await journey.visit({ ...ALLOWED, as: olga })
  await pageStored(page, '/')
  await untilPreloaded(page)
  await goOffline(page)
  await closeByKey(await submitPost(page, 'Из тоннеля'))
  const row = page.getByRole('status').getByText('1 запись ждёт связи.')
  await row.waitFor()
  await page.reload()
  await row.waitFor()
  await goOnline(page)
  await postWith(page, 'Из тоннеля').waitFor()
  await row.waitFor({ state: 'detached' })
})

test('a browser whose cache storage breaks shows pages and runs the app', async ({ journey }) => {
  const page = await journey.visit(ALLOWED)
  await pageStored(page, '/')
  const [worker] = page.context().serviceWorkers()
  const isBroken = await worker?.evaluate(() => {
    const breaks = () => Promise.reject(new DOMException('Unexpected internal error'))
    Object.assign(CacheStorage.prototype, { open: breaks, match: breaks })
    return caches.open('assets').catch(() => true)
  })
  expect(isBroken).toBe(true)
  const answer = await page.goto(journey.url)
  expect(answer?.fromServiceWorker()).toBe(true)
  await whenScriptsRun(page)
  await page.getByText('Слышно и в тоннеле.').waitFor()
})

test('a new build takes over: an open tab keeps its scripts, a reload has the new ones, and the old ones are removed with the last tab', async ({
  journey,
}) => {
  const site = await proxyWithNextBuild(journey.url)
  const tab = await journey.visit(ALLOWED)
  await tab.goto(site.url)
  await pageStored(tab, '/')
  const former = await storedAssets(tab)
  expect(former.length).toBeGreaterThan(5)

  site.deploy()
  await tab.reload()
  await tab.getByText('Слышно и в тоннеле.').waitFor()
  await expect.poll(async () => (await storedAssets(tab)).some(isNext)).toBe(true)
  await expect.poll(() => tab.evaluate(stateOfNewWorker)).toBe('installed')
  expect(await storedAssets(tab)).toEqual(expect.arrayContaining(former))

  const context = tab.context()
  await tab.close()
  // Opens a new tab each time, because a tab of the former worker would keep that active.
  await expect
    .poll(async () => {
      const later = await context.newPage()
      await later.goto(site.url)
      await later.getByText('Слышно и в тоннеле.').waitFor()
      const assets = await storedAssets(later)
      await later.close()
      return assets.filter((asset) => !isNext(asset))
    })
    .toEqual([])
})

test('while the server accepts requests without answering, a stored page is shown after a few seconds', async ({
  journey,
}) => {
  const site = await proxyWithNextBuild(journey.url)
  const page = await journey.visit(ALLOWED)
  await page.goto(site.url)
  await pageStored(page, '/')
  site.stall()
  const answer = await page.reload({ waitUntil: 'commit' })
  expect(answer?.fromServiceWorker()).toBe(true)
  await page.getByRole('navigation', { name: 'Разделы' }).waitFor()
})

test('the page of a captive portal is shown, and replaces no stored page', async ({ journey }) => {
  const site = await proxyWithNextBuild(journey.url)
  const page = await journey.visit({ ...ALLOWED, expectedErrors: /./ })
  await page.goto(site.url)
  await pageStored(page, '/')
  site.answerAll('<!doctype html><h1>Оплатите интернет</h1>')
  await page.goto(site.url)
  await page.getByText('Оплатите интернет').waitFor()
  site.stall()
  await page.reload({ waitUntil: 'commit' })
  await page.getByRole('navigation', { name: 'Разделы' }).waitFor()
})

test('SERVICE_WORKER=off removes the worker and everything stored from a browser at its next visit', async ({
  journey,
}) => {
  const page = await journey.visit({ ...ALLOWED, before: refuseNews })
  await pageStored(page, '/')
  await journey.product.stop()
  await journey.product.start({ SERVICE_WORKER: 'off' })
  await page.reload()
  await expect.poll(() => page.evaluate(leftovers)).toEqual([])
  const answer = await page.reload()
  expect(answer?.fromServiceWorker()).toBe(false)
  await page.getByText('Слышно и в тоннеле.').waitFor()
  await page.waitForLoadState('networkidle')
  expect(await page.evaluate(leftovers)).toEqual([])
})

/** The paths of requested assets, by the product's log. */
function assetRequests(journey: Journey): string[] {
  const asked = journey.product.lines.map((line) => /"(\/assets\/[^"]+)"/.exec(line)?.[1])
  return asked.filter((path) => path !== undefined)
}

async function expectNothingPersonal(page: Page, user: TestUser): Promise<void> {
  const paths = await page.evaluate(async () => {
    const all = await Promise.all(
      (await caches.keys()).map(async (name) => (await caches.open(name)).keys()),
    )
    return all.flat().map(({ url }) => new URL(url).pathname)
  })
  expect(paths.filter((it) => it.startsWith('/api/'))).toEqual([])
  const pages = await storedPages(page)
  expect(Object.keys(pages).sort()).toEqual(['/', path])
  for (const html of Object.values(pages)) {
    for (const secret of [user.username, user.email, user.clientToken]) {
      expect(html).not.toContain(secret)
    }
  }
}

function isNext(asset: string): boolean {
  return asset.includes('.next.')
}

async function pageStored(page: Page, at: string): Promise<void> {
  await expect.poll(async () => Object.keys(await storedPages(page))).toContain(at)
}

/** Returns the stored HTML by path. */
function storedPages(page: Page): Promise<Record<string, string>> {
  return page.evaluate(async () => {
    const cache = await caches.open('pages')
    const entries = (await cache.keys()).map(async ({ url }) => {
      const stored = await cache.match(url, { ignoreVary: true })
      return [new URL(url).pathname, await stored?.text()]
    })
    return Object.fromEntries(await Promise.all(entries))
  })
}

function storedAssets(page: Page): Promise<string[]> {
  return page.evaluate(async () => {
    const stored = await (await caches.open('assets')).keys()
    return stored.map(({ url }) => new URL(url).pathname)
  })
}

async function storeOtherPosts(count: number): Promise<void> {
  const cache = await caches.open('pages')
  for (let id = 1; id <= count; id++) await cache.put(`/posts/9000${id}`, new Response('Давно'))
}

/** Returns undefined if no newer worker waits to take over. */
async function stateOfNewWorker(): Promise<string | undefined> {
  return (await navigator.serviceWorker.getRegistration())?.waiting?.state
}

async function leftovers(): Promise<string[]> {
  const registrations = await navigator.serviceWorker.getRegistrations()
  return [...registrations.map(({ scope }) => scope), ...(await caches.keys())]
}
