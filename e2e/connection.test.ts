import type { CDPSession, Page } from 'playwright-core'
import { expect } from 'vitest'
import { type Journey, desktopTest as test } from './testing/journey.ts'
import { countRequests, holdCalls } from './testing/page-actions.ts'
import { profileLink } from './testing/sign-in-actions.ts'

const OFFLINE = 'Нет связи. Проверьте интернет и повторите'
const NO_ANSWER = 'Сервер не отвечает. Попробуйте чуть позже'

test.beforeEach(async ({ journey, olga }) => {
  await journey.fillWall(olga, 12)
})

test('a banner says that there is no network until it is back; what is published meanwhile goes then', async ({
  journey,
  olga,
}) => {
  const page = await journey.visit({ as: olga })
  await page.getByRole('article').first().waitFor()
  const dialog = await write(page, 'Написано в метро.')
  const banner = page.getByText('Нет связи. Читать можно, отправим — позже')
  expect(await banner.count()).toBe(0)
  await page.context().setOffline(true)
  await banner.waitFor()
  await dialog.getByRole('button', { name: 'Опубликовать' }).click()
  await dialog.getByText('Нет связи. Отправим, когда она вернётся').waitFor()
  expect(await dialog.getByLabel('Текст записи').inputValue()).toBe('Написано в метро.')

  await page.context().setOffline(false)
  await banner.waitFor({ state: 'detached' })
  await page.getByRole('status').getByText('Опубликовано').waitFor()
  expect(await published(journey, 'Написано в метро.')).toBe(1)
})

test('without a network the end of a list says so at once, and goes on by itself when the network is back', async ({
  journey,
  olga,
}) => {
  const page = await journey.visit({ as: olga, viewport: { width: 390, height: 400 } })
  await expect.poll(() => page.getByRole('article').count()).toBe(10)
  const lastId = await page.getByRole('article').last().getAttribute('data-post-id')
  // The first page is also read again for its signed-in reader, early or late, by another cursor.
  const next = new RegExp(`/api/v1/posts\\?.*cursor=${lastId}(&|$)`)
  const reads = countRequests(page, 'GET', next)
  // What a user needs later is in scripts of their own.
  await page.waitForLoadState('networkidle')
  await page.context().setOffline(true)
  await page.evaluate(() => scrollTo(0, document.documentElement.scrollHeight))
  const failed = page.getByRole('alert').filter({ hasText: OFFLINE })
  await failed.waitFor()
  expect(reads()).toBe(1)
  await page.context().setOffline(false)
  await failed.waitFor({ state: 'detached' })
  await expect.poll(() => page.getByRole('article').count()).toBeGreaterThan(10)
  expect(reads()).toBe(2)
})

test('on a slow network the feed is busy with skeletons, and a post sent three times is published once', async ({
  journey,
  olga,
}) => {
  const page = await journey.visit({ as: olga, path: '/own/replies' })
  await page.getByText('Записи не найдены').waitFor()
  const network = await slowDown(page)
  const wall = await holdCalls(page, '**/api/v1/posts?*')
  await page.getByRole('link', { name: 'Стена' }).click()
  const feed = page.getByRole('feed', { name: 'Стена' })
  await expect.poll(() => feed.getAttribute('aria-busy')).toBe('true')
  expect(await feed.getByRole('article').count()).toBe(0)
  wall.letGo()
  await feed.getByRole('article').first().waitFor()
  await expect.poll(() => feed.getAttribute('aria-busy')).toBe('false')

  const dialog = await write(page, 'Трижды, но однажды.')
  const publication = await holdCalls(page, '**/api/v1/posts')
  const send = dialog.getByRole('button', { name: 'Опубликовать' })
  await page.keyboard.press('Control+Enter')
  await page.keyboard.press('Control+Enter')
  await send.click({ force: true })
  await expect.poll(() => send.getAttribute('aria-busy')).toBe('true')
  publication.letGo()
  await dialog.waitFor({ state: 'detached' })
  await page.getByRole('article').filter({ hasText: 'Трижды, но однажды.' }).waitFor()
  expect(publication.methods).toEqual(['POST'])
  expect(await published(journey, 'Трижды, но однажды.')).toBe(1)
  await network.detach()
})

test('a first page that does not load says so in its place, and «Повторить» loads it', async ({
  journey,
  olga,
}) => {
  const first = /\/api\/v1\/posts(\?|$)/
  // Whoever opens the wall by its address finds it in the page already.
  const page = await journey.visit({
    as: olga,
    path: '/settings',
    before: (page) => page.route(first, (route) => route.abort()),
  })
  await page.getByRole('link', { name: 'Стена' }).click()
  const failed = page.getByRole('alert')
  await failed.getByText(NO_ANSWER).waitFor()
  await profileLink(page).waitFor()
  expect(await failed.getByRole('heading', { name: 'Не получилось загрузить' }).count()).toBe(1)
  expect(await page.getByText('Записи не найдены').count()).toBe(0)

  await page.unroute(first)
  await failed.getByRole('button', { name: 'Повторить' }).click()
  await expect.poll(() => page.getByRole('article').count()).toBeGreaterThanOrEqual(10)
  expect(await failed.count()).toBe(0)
})

async function write(page: Page, text: string) {
  await page.getByRole('button', { name: 'Новая запись' }).click()
  const dialog = page.getByRole('dialog', { name: 'Новая запись' })
  await dialog.getByLabel('Текст записи').fill(text)
  return dialog
}

async function published(journey: Journey, text: string): Promise<number> {
  return (await journey.rows('SELECT FROM posts WHERE text = $1', [text])).length
}

/** Slows the connection down to a weak mobile network. */
async function slowDown(page: Page): Promise<CDPSession> {
  const network = await page.context().newCDPSession(page)
  await network.send('Network.enable')
  await network.send('Network.emulateNetworkConditions', {
    offline: false,
    latency: 400,
    downloadThroughput: 50_000,
    uploadThroughput: 25_000,
  })
  return network
}
