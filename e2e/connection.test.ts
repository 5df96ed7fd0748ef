import { expect } from 'vitest'
import { desktopTest as test } from './testing/journey.ts'
import { countRequests, goOffline, holdCalls } from './testing/page-actions.ts'
import { profileLink } from './testing/sign-in-actions.ts'

const OFFLINE = 'Нет связи. Проверьте интернет и повторите'
const NO_ANSWER = 'Сервер не отвечает. Попробуйте чуть позже'

test.beforeEach(async ({ journey, olga }) => {
  await journey.fillWall(olga, 12)
})

test('without a network the end of a list shows that at once, and loads by itself when the network is back', async ({
  journey,
  olga,
}) => {
  const page = await journey.visit({ as: olga, viewport: { width: 390, height: 400 } })
  await expect.poll(() => page.getByRole('article').count()).toBe(10)
  const lastId = await page.getByRole('article').last().getAttribute('data-post-id')
  // The first page is also read again for its signed-in reader, early or late, by another cursor.
  const next = new RegExp(`/api/v1/posts\\?.*cursor=${lastId}(&|$)`)
  const reads = countRequests(page, 'GET', next)
  // Chunks that a user needs later load separately.
  await page.waitForLoadState('networkidle')
  await goOffline(page)
  await page.evaluate(() => scrollTo(0, document.documentElement.scrollHeight))
  const failed = page.getByRole('alert').filter({ hasText: OFFLINE })
  await failed.waitFor()
  expect(reads()).toBe(1)
  await page.context().setOffline(false)
  await failed.waitFor({ state: 'detached' })
  await expect.poll(() => page.getByRole('article').count()).toBeGreaterThan(10)
  expect(reads()).toBe(2)
})

test('the feed is busy while its first page loads', async ({ journey, olga }) => {
  const page = await journey.visit({ as: olga, path: '/own/replies' })
  await page.getByText('Записи не найдены').waitFor()
  const wall = await holdCalls(page, '**/api/v1/posts?*')
  await page.getByRole('link', { name: 'Стена' }).click()
  const feed = page.getByRole('feed', { name: 'Стена' })
  await expect.poll(() => feed.getAttribute('aria-busy')).toBe('true')
  expect(await feed.getByRole('article').count()).toBe(0)
  wall.letGo()
  await feed.getByRole('article').first().waitFor()
  await expect.poll(() => feed.getAttribute('aria-busy')).toBe('false')
})

test('a first page that does not load shows an error, and «Повторить» loads it', async ({
  journey,
  olga,
}) => {
  const first = /\/api\/v1\/posts(\?|$)/
  // A wall that is opened by its address is already in the page, so the app opens it here.
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
