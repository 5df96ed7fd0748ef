import type { Locator, Page } from 'playwright-core'
import { expect } from 'vitest'
import { DESKTOP, test } from './testing/journey.ts'
import {
  bringTo,
  focusedPost,
  holdCalls,
  isAt,
  postTexts,
  postWith,
  readOn,
  scroll,
  submitPost,
  tap,
  toast,
} from './testing/page-actions.ts'
import { askForCode, enterCode, profileLink, signInButton } from './testing/sign-in-actions.ts'

const POSTS = 120
const TEXT = 'Запись, которой хватает слов на две строки и больше. Номер'

test.beforeEach(async ({ journey, olga }) => {
  await journey.fillWall(olga, POSTS, TEXT)
})

test('a reload deep in the wall returns to the same post, even after a reload on a post’s page; the posts above load on the way up', async ({
  journey,
}) => {
  const page = await journey.visit({ before: recordSeenTop })
  const read = await readDeep(page)
  const position = () =>
    read.evaluate(({ ariaPosInSet, ariaSetSize }) => [ariaPosInSet, ariaSetSize].map(Number))
  expect(await position()).toEqual([50, POSTS])
  // The page reads the posts around its place, of which this is the last, and then the next ones.
  const more = Promise.withResolvers<void>()
  let reads = 0
  await page.route(/\/posts\?.*cursor=/, async (route) => {
    reads += 1
    if (reads > 1) await more.promise
    await route.continue()
  })
  await page.reload()
  await expect.poll(() => isAt(read, 217)).toBe(true)
  expect(await postWith(page, /Номер 70$/).count()).toBe(0)
  expect(await position()).toEqual([50, POSTS])
  more.resolve()
  await postWith(page, /Номер 70$/).waitFor()
  expect(await isAt(read, 217)).toBe(true)
  await expect.poll(() => page.evaluate(() => Reflect.get(window, 'sawTop'))).toBe(false)
  expect(await page.getByRole('article').count()).toBeLessThan(50)

  await read.locator('time').click()
  await page.getByRole('heading', { name: 'Ответы' }).waitFor()
  await page.reload()
  await page.getByRole('heading', { name: 'Ответы' }).waitFor()
  await page.goBack()
  await expect.poll(() => isAt(read, 217)).toBe(true)

  await page.getByRole('link', { name: 'К началу' }).waitFor({ state: 'attached' })
  await expect
    .poll(async () => {
      await scroll(page, -400)
      return (await postTexts(page))[0]
    })
    .toBe(`${TEXT} ${POSTS}`)
  expect(await page.getByRole('link', { name: 'К началу' }).count()).toBe(0)
  const texts = await postTexts(page)
  const expected = texts.map((_, index) => `${TEXT} ${POSTS - index}`)
  expect(texts).toEqual(expected)
})

test('after a reload of a post opened by touch, going back draws no focus ring around its card; opened by a key, it does', async ({
  journey,
}) => {
  const page = await journey.visit({ hasTouch: true })
  const returnTo = async (card: Locator) => {
    await page.getByRole('heading', { name: 'Ответы' }).waitFor()
    await page.reload()
    await page.getByRole('heading', { name: 'Ответы' }).waitFor()
    await page.goBack()
    await expect.poll(() => card.evaluate((it) => it === document.activeElement)).toBe(true)
    return card.evaluate((it) => it.matches(':focus-visible'))
  }
  // At the very top the anchor is stored only later, with that of another entry.
  await bringTo(postWith(page, /Номер 119$/), 100)
  await postWith(page, /Номер 119$/).tap()
  expect(await returnTo(postWith(page, /Номер 119$/))).toBe(false)
  await page.keyboard.press('j')
  await expect.poll(() => focusedPost(page)).toBe(`${TEXT} 118`)
  await page.keyboard.press('Enter')
  expect(await returnTo(postWith(page, /Номер 118$/))).toBe(true)
})

test('a part of the wall opened by its address states no positions, and does not show newly published posts', async ({
  journey,
}) => {
  const vera = await journey.signUp()
  const { nextCursor } = (await journey.call('GET', '/posts?limit=50')).body
  const page = await journey.visit({ as: vera, viewport: DESKTOP, path: `/?cursor=${nextCursor}` })
  const first = postWith(page, /Номер 70$/)
  await first.waitFor()
  expect(await first.getAttribute('aria-posinset')).toBeNull()
  const dialog = await submitPost(page, 'Самая новая')
  await toast(page, 'Опубликовано').waitFor()
  await dialog.waitFor({ state: 'detached' })
  expect((await postTexts(page))[0]).toBe(`${TEXT} 70`)
  await page.getByRole('link', { name: 'К началу' }).click()
  await expect.poll(async () => (await postTexts(page))[0]).toBe('Самая новая')
})

test('a reload near the top moves nothing, and announces new posts', async ({ journey, olga }) => {
  const page = await journey.visit()
  const read = postWith(page, /Номер 115$/)
  await read.waitFor()
  await bringTo(read, 217)
  await journey.fillWall(olga, 30, 'Новая')
  await journey.publish(olga, 'Самая новая')
  await page.reload()
  await expect.poll(() => isAt(read, 217)).toBe(true)
  const newPosts = page.getByRole('button', { name: 'Показать новые записи' })
  await newPosts.waitFor()
  expect((await postTexts(page))[0]).toBe(`${TEXT} ${POSTS}`)

  await tap(newPosts)
  await postWith(page, /^.*Новая 10$/).waitFor({ state: 'attached' })
  expect(await isAt(read, 217)).toBe(true)
})

test('going back before the scripts of a reloaded post have loaded shows the wall at its place', async ({
  journey,
}) => {
  const page = await journey.visit()
  const read = await readDeep(page)
  await read.locator('time').click()
  await page.getByRole('heading', { name: 'Ответы' }).waitFor()
  const scripts = await holdCalls(page, /\/assets\/.*\.js$/)
  // Scripts that are held back can keep the page from being loaded.
  await page.reload({ waitUntil: 'domcontentloaded' })
  await page.getByRole('heading', { name: 'Ответы' }).waitFor()
  await page.goBack({ waitUntil: 'commit' })
  expect(page.url()).toBe(`${journey.url}/`)
  scripts.letGo()
  await expect.poll(() => isAt(read, 217)).toBe(true)
})

test('deep in the wall neither closing the switcher nor choosing from it nor Tab moves the page', async ({
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
})

test('a session that begins and ends in another tab moves nothing here, and shows and hides the likes of its user', async ({
  journey,
  olga,
}) => {
  const petr = await journey.signUp()
  const page = await journey.visit()
  const id = await (await readDeep(page)).getAttribute('data-post-id')
  const read = page.locator(`article[data-post-id="${id}"]`)
  const shown = await page.getByRole('article').count()
  await journey.call('POST', `/posts/${id}/likes`, { token: petr.token })
  // The pages of the list begin elsewhere when they are read again.
  await journey.publish(olga, 'Опубликовано между тем')
  const like = read.getByRole('button', { name: 'Нравится' })

  const other = await page.context().newPage()
  await other.goto(journey.url)
  await askForCode(other, petr.email)
  await enterCode(other, await journey.nextCode(petr.email))
  await profileLink(page).waitFor()
  await expect.poll(() => like.getAttribute('aria-pressed')).toBe('true')
  // Polls, because the card may be in the middle of being replaced.
  await expect.poll(() => isAt(read, 217)).toBe(true)

  await other.goto(`${journey.url}/settings`)
  const last = await page.getByRole('article').last().getAttribute('data-post-id')
  const readAgain = page.waitForResponse(
    // The text of a read that is cancelled cannot be read.
    async (it) =>
      it.url().includes('/posts?') && (await it.text().catch(() => '')).includes(`"id":"${last}"`),
  )
  await other.getByRole('button', { name: 'Выйти' }).click()
  await signInButton(page).waitFor()
  await expect.poll(() => like.getAttribute('aria-pressed')).toBe('false')
  await readAgain
  await expect.poll(() => isAt(read, 217)).toBe(true)
  expect(await page.getByRole('article').count()).toBe(shown)
})

/** Reads the wall until a post deep in it is at 217 px. */
async function readDeep(page: Page) {
  await readOn(page, 60)
  const read = postWith(page, /Номер 71$/)
  await bringTo(read, 217)
  return read
}

/** Records whether the first post of the wall was visible in any frame that showed posts. */
function recordSeenTop(page: Page): Promise<unknown> {
  return page.addInitScript((text) => {
    let sawTop = false
    const look = () => {
      const first = document.querySelector('article')
      if (first && getComputedStyle(first).visibility === 'visible') {
        sawTop ||= first.textContent?.includes(text) ?? false
        Object.assign(window, { sawTop })
      }
      requestAnimationFrame(look)
    }
    requestAnimationFrame(look)
  }, `${TEXT} ${POSTS}`)
}
