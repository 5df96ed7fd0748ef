import type { Locator, Page } from 'playwright-core'
import { expect } from 'vitest'
import { tap } from './testing/hands.ts'
import { DESKTOP, test } from './testing/journey.ts'
import { submitPost } from './testing/page/compose.ts'
import { focusedPost, newPosts, postTexts, postWith } from './testing/page/feed.ts'
import {
  boxOf,
  bringTo,
  isAt,
  readOn,
  recordFrames,
  scroll,
  tapInPlace,
} from './testing/page/layout.ts'
import { holdCalls, REFUSED } from './testing/page/network.ts'
import { toast } from './testing/page/overlays.ts'
import { focused } from './testing/page/tab.ts'
import { whenScriptsRun } from './testing/when-scripts-run.ts'

const POSTS = 70
const TEXT = 'Запись, которой хватает слов на две строки и больше. Номер'
/** The post that readDeep() brings to its place, and the last of the page that has it. */
const DEEP = /Номер 41$/
const NEXT = /Номер 40$/

test.beforeEach(async ({ journey, olga }) => {
  await journey.fillWall(olga, POSTS, TEXT)
})

test('a reload deep in the wall, and going back after one, keep the place', async ({ journey }) => {
  const page = await journey.visit()
  const read = await readDeep(page)
  const position = () =>
    read.evaluate(({ ariaPosInSet, ariaSetSize }) => [ariaPosInSet, ariaSetSize].map(Number))
  expect(await position()).toEqual([30, POSTS])
  // The page reads the posts around its place, of which this is the last, and then the next ones.
  const more = Promise.withResolvers<void>()
  let reads = 0
  await page.route(/\/posts\?.*cursor=/, async (route) => {
    reads += 1
    if (reads > 1) await more.promise
    await route.continue()
  })
  const seen = await recordFrames(page, () => {
    const first = document.querySelector('article')
    return first && getComputedStyle(first).visibility === 'visible' ? first.textContent : null
  })
  await page.reload()
  await expect.poll(() => isAt(read, 217)).toBe(true)
  expect(await postWith(page, NEXT).count()).toBe(0)
  expect(await position()).toEqual([30, POSTS])
  more.resolve()
  await postWith(page, NEXT).waitFor()
  expect(await isAt(read, 217)).toBe(true)
  await expect.poll(async () => (await seen()).join()).toContain(TEXT)
  expect((await seen()).join()).not.toContain(`${TEXT} ${POSTS}`)
  expect(await page.getByRole('article').count()).toBeLessThan(30)

  const answers = page.getByRole('heading', { name: 'Ответы' })
  await tap(read.locator('time'))
  await answers.waitFor()
  await page.reload()
  await whenScriptsRun(page)
  await page.goBack()
  await expect.poll(() => isAt(read, 217)).toBe(true)
  await page.goForward()
  await answers.waitFor()
  const scripts = await holdCalls(page, /\/assets\/.*\.js$/)
  // Scripts that are held back can keep the page from being loaded.
  await page.reload({ waitUntil: 'domcontentloaded' })
  await answers.waitFor()
  await page.goBack({ waitUntil: 'commit' })
  expect(page.url()).toBe(`${journey.url}/`)
  scripts.letGo()
  await expect.poll(() => isAt(read, 217)).toBe(true)

  // A reload at the top of what has been read, too, while the posts above are still being read.
  const above = await holdCalls(page, /\/posts\?.*cursor=oldest-/)
  await page.reload()
  await expect.poll(() => isAt(read, 217)).toBe(true)
  await page.evaluate(() => scrollTo(0, 0))
  const { top } = await boxOf(read)
  await page.reload()
  await expect.poll(() => isAt(read, top)).toBe(true)
  await page.route(/\/posts\?.*cursor=oldest-/, (route) => route.fulfill(REFUSED), { times: 1 })
  above.letGo()
  const retry = page.getByRole('button', { name: 'Повторить' })
  const scrollUp = async () => {
    await scroll(page, -400)
    return retry.count()
  }
  await expect.poll(scrollUp).toBe(1)
  // Looked at before the retry: at the very top, all posts above may be read before the next look.
  expect(await page.getByRole('link', { name: 'К началу' }).count()).toBe(1)
  await tapInPlace(retry)

  await expect
    .poll(async () => {
      await scroll(page, -400)
      return (await postTexts(page))[0]
    })
    .toBe(`${TEXT} ${POSTS}`)
  expect(await page.getByRole('link', { name: 'К началу' }).count()).toBe(0)
  const texts = await postTexts(page)
  expect(texts).toEqual(texts.map((_, index) => `${TEXT} ${POSTS - index}`))
})

test('going back rings the card of a post opened by a key, not by touch', async ({ journey }) => {
  const page = await journey.visit({ hasTouch: true, viewport: DESKTOP })
  const reload = async () => {
    await page.getByRole('heading', { name: 'Ответы' }).waitFor()
    await page.reload()
    await page.getByRole('heading', { name: 'Ответы' }).waitFor()
  }
  const returnTo = async (card: Locator) => {
    await reload()
    await page.goBack()
    await expect.poll(() => card.evaluate((it) => it === document.activeElement)).toBe(true)
    return card.evaluate((it) => it.matches(':focus-visible'))
  }
  await postWith(page, /Номер 69$/).tap()
  expect(await returnTo(postWith(page, /Номер 69$/))).toBe(false)
  await page.keyboard.press('j')
  await expect.poll(() => focusedPost(page)).toBe(`${TEXT} 68`)
  await page.keyboard.press('Enter')
  expect(await returnTo(postWith(page, /Номер 68$/))).toBe(true)

  // Not if the reader types already while the list is still being read.
  await page.keyboard.press('Enter')
  await reload()
  await whenScriptsRun(page)
  const reads = await holdCalls(page, '**/api/v1/posts?*')
  await page.goBack()
  await reads.asked
  await page.getByRole('searchbox').focus()
  reads.letGo()
  await postWith(page, /Номер 68$/).waitFor()
  expect(await focused(page)).toBe('Поиск по записям')
})

test('a part of the wall states no positions and shows no new posts', async ({ journey, petr }) => {
  const { nextCursor } = (await journey.call('GET', '/posts?limit=50')).body
  const page = await journey.visit({ as: petr, viewport: DESKTOP, path: `/?cursor=${nextCursor}` })
  const first = postWith(page, /Номер 20$/)
  await first.waitFor()
  expect(await first.getAttribute('aria-posinset')).toBeNull()
  const dialog = await submitPost(page, 'Самая новая')
  await toast(page, 'Опубликовано').waitFor()
  await dialog.waitFor({ state: 'detached' })
  expect((await postTexts(page))[0]).toBe(`${TEXT} 20`)
  await tap(page.getByRole('link', { name: 'К началу' }))
  await expect.poll(async () => (await postTexts(page))[0]).toBe('Самая новая')
})

test('a reload near the top moves nothing, and announces new posts', async ({ journey, olga }) => {
  const page = await journey.visit()
  const read = postWith(page, /Номер 65$/)
  await read.waitFor()
  await bringTo(read, 217)
  await journey.fillWall(olga, 30, 'Новая')
  await journey.publish(olga, 'Самая новая')
  await page.reload()
  await expect.poll(() => isAt(read, 217)).toBe(true)
  await newPosts(page).waitFor()
  expect((await postTexts(page))[0]).toBe(`${TEXT} ${POSTS}`)

  await tapInPlace(newPosts(page))
  await postWith(page, /^.*Новая 10$/).waitFor({ state: 'attached' })
  expect(await isAt(read, 217)).toBe(true)
})

test('neither the switcher nor Tab moves the wall, its link starts at the top', async ({
  journey,
  olga,
}) => {
  const page = await journey.visit({ as: olga })
  const read = await readDeep(page)
  // Not with click(), which scrolls by itself.
  const press = async (button: Locator) => {
    const { x = 0, y = 0 } = (await button.boundingBox()) ?? {}
    await page.mouse.click(x + 20, y + 20)
  }
  const option = page.getByRole('option', { name: 'Мои записи' })
  const openSwitcher = async () => {
    await press(page.getByRole('button', { name: 'Новые', exact: true }))
    await option.waitFor()
  }
  for (const key of ['Escape', 'Tab', 'Shift+Tab']) {
    await openSwitcher()
    await page.keyboard.press(key)
    await option.waitFor({ state: 'detached' })
    expect({ key, isThere: await isAt(read, 217) }).toEqual({ key, isThere: true })
    // Moves the focus away from the skip link, which would cover the switcher.
    await read.focus()
  }
  await openSwitcher()
  await press(option)
  await page.getByRole('heading', { name: 'Мои записи' }).waitFor()
  await postWith(page, `${TEXT} ${POSTS}`).waitFor()
  await page.goBack()
  await page.getByRole('heading', { name: 'Стена' }).waitFor()
  await expect.poll(() => isAt(read, 217)).toBe(true)

  await journey.publish(olga, 'Пока вас не было')
  await tap(page.getByRole('link', { name: 'Стена' }))
  await postWith(page, 'Пока вас не было').waitFor()
  expect(await page.evaluate(() => scrollY)).toBe(0)
})

/** Reads the wall until a post deep in it is at 217 px. */
async function readDeep(page: Page) {
  await readOn(page, 40)
  const read = postWith(page, DEEP)
  await bringTo(read, 217)
  return read
}
