import type { Locator } from 'playwright-core'
import { expect } from 'vitest'
import { LIVE_PATH } from '../contract/constants.ts'
import { postPath } from '../contract/pages.ts'
import { expectNoBarrier } from './testing/axe.ts'
import { TABLET, test } from './testing/journey.ts'
import {
  bringTo,
  countRequests,
  feedSwitcher,
  holdCalls,
  isAt,
  postTexts,
  postWith,
  REFUSED,
  readOn,
  recordMoves,
  setVisibility,
  switchView,
  tap,
  toast,
} from './testing/page-actions.ts'
import { profileLink } from './testing/sign-in-actions.ts'

/**
 * Ten posts with this text are taller than a phone's screen, so that the next page loads only after
 * scrolling.
 */
const TWO_LINES = 'Запись, которой на телефоне хватает на две строки, а то и на три:'

test('scrolling loads ten posts at a time until the end of the wall, with skeletons while they load, and a retry button if they do not', async ({
  journey,
  olga,
}) => {
  await journey.fillWall(olga, 25, TWO_LINES)
  const page = await journey.visit()
  const feed = page.getByRole('feed', { name: 'Стена' })
  await expect.poll(() => feed.getByRole('article').count()).toBe(10)
  expect(await feed.getAttribute('aria-busy')).toBe('false')
  expect(await page.title()).toBe('Стена - Вслух')

  const second = await holdCalls(page, '**/posts?*cursor=*')
  await page.keyboard.press('End')
  await second.asked
  await expect.poll(() => feed.getAttribute('aria-busy')).toBe('true')
  await page.locator('main [aria-hidden=true] > div').first().waitFor()
  second.letGo()
  await expect.poll(() => feed.getByRole('article').count()).toBe(20)

  await page.unroute('**/posts?*cursor=*')
  await page.route('**/posts?*cursor=*', (route) => route.fulfill({ status: 400 }))
  await page.keyboard.press('End')
  const repeat = page.getByRole('button', { name: 'Повторить' })
  await repeat.waitFor()
  expect(await feed.getByRole('article').count()).toBe(20)
  await page.unroute('**/posts?*cursor=*')
  await repeat.click()
  await expect.poll(() => feed.getByRole('article').count()).toBe(25)
  expect(await feed.getAttribute('aria-busy')).toBe('false')
  expect((await postTexts(page)).at(-1)).toBe(`${TWO_LINES} 1`)
  expect(await postWith(page, new RegExp(`${TWO_LINES} 1$`)).getAttribute('aria-setsize')).toBe(
    '25',
  )
  expect(new Set(await postTexts(page)).size).toBe(25)
})

test('going back from a post returns to it at the very same place; a new visit starts at the top', async ({
  journey,
  olga,
}) => {
  await journey.fillWall(olga, 35)
  const page = await journey.visit({ viewport: TABLET })
  await postWith(page, 'Запись 35').waitFor()
  await readOn(page, 30)
  const read = postWith(page, 'Запись 12')
  await bringTo(read, 203)
  await read.getByText('Запись 12').click()
  await page.getByRole('heading', { name: 'Ответы' }).waitFor()

  await journey.publish(olga, 'Пока вас не было')
  await page.getByRole('button', { name: 'Назад' }).click()
  await expect.poll(() => isAt(read, 203)).toBe(true)
  await expect.poll(() => page.getByRole('article').count()).toBeGreaterThanOrEqual(30)
  expect(await postWith(page, 'Пока вас не было').count()).toBe(0)
  await page.goForward()
  await page.getByRole('heading', { name: 'Ответы' }).waitFor()
  await page.goBack()
  await expect.poll(() => isAt(read, 203)).toBe(true)

  await page
    .getByRole('navigation', { name: 'Разделы' })
    .getByRole('link', { name: 'Стена' })
    .click()
  await postWith(page, 'Пока вас не было').waitFor()
  expect(await page.evaluate(() => scrollY)).toBe(0)
  // The list is loaded again. If ten posts do not fill the screen, the next ten follow.
  expect(await page.getByRole('article').count()).toBeLessThan(30)
})

test('new posts wait behind a button that appears by itself; a tap adds them above and moves nothing, a second tap leads to them', async ({
  journey,
  olga,
}) => {
  await journey.fillWall(olga, 25)
  // A stream begins with the newest post that was published.
  await journey.publish(olga, 'Прежняя')
  const page = await journey.visitWithNews()
  const read = postWith(page, /^.*Запись 19$/)
  await bringTo(read, 150)
  await expect.poll(() => page.getByRole('article').count()).toBe(20)
  const asked = countRequests(page, 'GET', /\/api\//)
  await journey.fillWall(olga, 30, 'Новая')
  await journey.publish(olga, 'Самая новая')
  const since = performance.now()
  const newPosts = page.getByRole('button', { name: 'Показать новые записи' })
  await newPosts.waitFor()
  expect(performance.now() - since).toBeLessThan(1500)
  expect(asked()).toBe(0)
  expect(await isAt(read, 150)).toBe(true)
  expect(await postWith(page, 'Самая новая').count()).toBe(0)

  const moves = await recordMoves(read)
  await tap(newPosts)
  await page.getByText('Вы остановились здесь').waitFor({ state: 'attached' })
  const toTop = page.getByRole('button', { name: 'К новым записям' })
  await toTop.waitFor()
  expect(await moves()).toBeLessThanOrEqual(1)
  expect(await isAt(read, 150)).toBe(true)
  const stopped = await page.getByText('Вы остановились здесь').boundingBox()
  const first = await postWith(page, /^.*Запись 25$/).boundingBox()
  expect(stopped?.y).toBeLessThan(first?.y ?? 0)

  await toTop.click()
  await expect.poll(() => page.evaluate(() => scrollY)).toBe(0)
  expect((await postTexts(page))[0]).toBe('Самая новая')
  await toTop.waitFor({ state: 'detached' })
})

test('of many new posts the nearest come first and the others on scrolling up, which moves nothing; a reload keeps their positions', async ({
  journey,
  olga,
}) => {
  await journey.fillWall(olga, 15)
  const page = await journey.visitWithNews()
  await readOn(page, 15)
  const stopped = postWith(page, /^.*Запись 9$/)
  await bringTo(stopped, 150)
  await journey.fillWall(olga, 14, 'Новая')
  await journey.publish(olga, 'Самая новая')
  const tapMoves = await recordMoves(stopped)
  await tap(page.getByRole('button', { name: 'Показать новые записи' }))
  await postWith(page, /^.*Новая 10$/).waitFor({ state: 'attached' })
  // For some frames the page keeps that post in its place, even against a scroll.
  expect(await tapMoves()).toBeLessThanOrEqual(1)
  expect(await page.getByRole('article').count()).toBe(25)
  expect(await postWith(page, /^.*Новая 1$/).getAttribute('aria-posinset')).toBe('15')

  const read = postWith(page, /^.*Новая 10$/)
  const above = await holdCalls(page, '**/posts?*cursor=oldest-*')
  await page.evaluate(() => scrollTo(0, 0))
  await above.asked
  const moves = await recordMoves(read)
  above.letGo()
  await postWith(page, 'Самая новая').waitFor({ state: 'attached' })
  expect(await moves()).toBeLessThanOrEqual(1)
  await expectNoBarrier(page, 'new posts above those that were read')
  expect(await page.getByText('Вы остановились здесь').count()).toBe(1)
  const news = Array.from({ length: 14 }, (_, n) => `Новая ${14 - n}`)
  const old = Array.from({ length: 15 }, (_, n) => `Запись ${15 - n}`)
  expect(await postTexts(page)).toEqual(['Самая новая', ...news, ...old])
  expect(await postWith(page, /^.*Запись 15$/).getAttribute('aria-posinset')).toBe('16')
  await bringTo(stopped, 150)
  await page.reload()
  await expect.poll(() => isAt(stopped, 150)).toBe(true)
  expect(await stopped.getAttribute('aria-posinset')).toBe('22')
})

test('a hidden tab closes its stream, reads new posts once when it is shown again, and moves nothing', async ({
  journey,
  olga,
}) => {
  await journey.fillWall(olga, 12)
  const page = await journey.visitWithNews({ before: (page) => page.clock.install() })
  const read = postWith(page, /^.*Запись 8$/)
  await bringTo(read, 150)
  await expect.poll(() => page.getByRole('article').count()).toBe(12)
  const asked = countRequests(page, 'GET', /\/api\/v1\/posts/)
  // Without locks each tab has a stream, and a browser opens only six connections to a host.
  const closed = page.waitForEvent('requestfailed', (it) => it.url().endsWith(LIVE_PATH))
  await setVisibility(page, 'hidden')
  await closed
  await page.clock.fastForward(31_000)
  await journey.publish(olga, 'Пока вас не было')
  const { id } = await journey.publish(olga, 'И ещё одна')
  // Not the wall, of which a busy machine may send an older page.
  const other = await journey.visitWithNews({ path: postPath(id) })
  await postWith(other, 'И ещё одна').waitFor()
  expect(asked()).toBe(0)
  await setVisibility(page, 'visible')
  await page.getByRole('button', { name: 'Показать новые записи' }).waitFor()
  expect(asked()).toBe(1)
  expect(await isAt(read, 150)).toBe(true)
})

test('a new post that was deleted again leaves a button that disappears when tapped', async ({
  journey,
  olga,
}) => {
  await journey.fillWall(olga, 12)
  const page = await journey.visitWithNews()
  const read = postWith(page, /^.*Запись 8$/)
  await bringTo(read, 150)
  const { id } = await journey.publish(olga, 'Сейчас исчезнет')
  const newPosts = page.getByRole('button', { name: 'Показать новые записи' })
  await newPosts.waitFor()
  await journey.call('DELETE', `/posts/${id}`, { token: olga.token })
  await tap(newPosts)
  await newPosts.waitFor({ state: 'detached' })
  expect(await isAt(read, 150)).toBe(true)
  expect(await page.getByRole('button', { name: 'К новым записям' }).count()).toBe(0)
  expect(await page.getByText('Вы остановились здесь').count()).toBe(0)

  // A stream begins with the newest post, which was deleted.
  const asked = Promise.withResolvers<void>()
  page.on('requestfinished', (it) => /\/posts\?limit/.test(it.url()) && asked.resolve())
  await page.goto(journey.url)
  await asked.promise
  await bringTo(read, 150)
  expect(await newPosts.count()).toBe(0)
})

test('after publishing, new posts by others are still announced', async ({ journey, olga }) => {
  const petr = await journey.signUp()
  await journey.fillWall(olga, 12)
  const page = await journey.visit({ as: petr })
  await postWith(page, 'Запись 12').waitFor()
  await journey.publish(olga, 'Чужая новость')
  await page.getByRole('button', { name: 'Новая запись' }).click()
  await page.getByRole('textbox', { name: 'Текст записи' }).fill('Своя новость')
  await page.keyboard.press('Control+Enter')
  await postWith(page, 'Своя новость').waitFor()
  await page.getByRole('button', { name: 'Показать новые записи' }).click()
  await postWith(page, 'Чужая новость').waitFor()
  expect((await postTexts(page)).slice(0, 3)).toEqual([
    'Своя новость',
    'Чужая новость',
    'Запись 12',
  ])
})

test('if new posts do not arrive, a toast shows why', async ({ journey, olga }) => {
  await journey.fillWall(olga, 12)
  const page = await journey.visitWithNews()
  await journey.publish(olga, 'Самая новая')
  const newPosts = page.getByRole('button', { name: 'Показать новые записи' })
  await newPosts.waitFor()
  await page.route('**/api/v1/posts?*', (route) => route.fulfill(REFUSED))
  await newPosts.click()
  await toast(page, REFUSED.json.message).waitFor()
  await expect.poll(() => newPosts.getAttribute('aria-disabled')).toBe(null)
})

test('feed titled «Стена», at any width: a heading, with the feed-view switcher beside or below it', async ({
  journey,
  olga,
}) => {
  const page = await journey.visit({ as: olga })
  const title = page.getByRole('heading', { level: 1, name: 'Стена', exact: true })
  const switcher = feedSwitcher(page)
  const search = page.getByRole('banner').getByRole('link', { name: 'Поиск' })
  await profileLink(page).waitFor()
  expect(await switcher.innerText()).toBe('Новые')
  expect(await page.getByRole('heading', { level: 1 }).count()).toBe(1)
  for (const width of [320, 800, 1280]) {
    await page.setViewportSize({ width, height: 844 })
    const [at, beside] = await Promise.all([lettersOf(title), lettersOf(switcher)])
    expect(beside.left >= at.right || beside.top >= at.bottom).toBe(true)
    const next = (await search.isVisible()) ? search : profileLink(page)
    const { x: end = 0 } = (await next.boundingBox()) ?? {}
    expect(Math.max(at.right, beside.right)).toBeLessThanOrEqual(end)
  }
  await switchView(page, 'Мои ответы')
  await page.getByRole('heading', { level: 1, name: 'Мои ответы' }).waitFor()
})

/** Returns the box of an element's letters, without the space around them. */
function lettersOf(element: Locator) {
  return element.evaluate((it) => {
    const range = document.createRange()
    range.selectNodeContents(it)
    const { left, right, top, bottom } = range.getBoundingClientRect()
    return { left, right, top, bottom }
  })
}
