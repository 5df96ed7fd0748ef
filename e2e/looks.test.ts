import type { Locator, Page } from 'playwright-core'
import { expect } from 'vitest'
import { authorPath, SITE_DESCRIPTION } from '../contract/pages.ts'
import { tap } from './testing/hands.ts'
import { DESKTOP, PHONE, TABLET, test } from './testing/journey.ts'
import { untilPainted } from './testing/layout-shifts.ts'
import { chooseFromMenu, postWith } from './testing/page/feed.ts'
import { recordFrames, scroll, styleOf } from './testing/page/layout.ts'
import { closeByKey, dialogOf } from './testing/page/overlays.ts'
import { profileLink } from './testing/sign-in-actions.ts'
import { whenScriptsRun } from './testing/when-scripts-run.ts'

test('the theme is dark at first, and a chosen one never flashes', async ({ journey }) => {
  const page = await journey.visit({ colorScheme: 'light', viewport: DESKTOP })
  const background = () => styleOf(page.locator('body'), 'background-color')
  const dark = await background()
  expect(dark).toBe('rgb(19, 18, 17)')
  await tap(page.getByRole('button', { name: 'Светлая тема' }))
  const light = await background()
  expect(light).toBe('rgb(251, 249, 246)')

  const painted = await recordFrames(page, () => {
    return document.body && getComputedStyle(document.body).backgroundColor
  })
  await page.reload()
  await page.getByRole('button', { name: 'Тёмная тема' }).waitFor()
  // The next frame shows the page that the app has just rendered.
  await untilPainted(page)
  expect(await painted()).toEqual([light])
  expect(await page.locator('meta[name=theme-color]').getAttribute('content')).toBe('#fbf9f6')

  await tap(page.getByRole('button', { name: 'Тёмная тема' }))
  expect(await background()).toBe(dark)
})

test('an empty wall asks for a post; posts fill a phone’s screen', async ({ journey, olga }) => {
  const page = await journey.visit()
  const main = page.getByRole('main')
  const titles = [SITE_DESCRIPTION.slice(0, -1), 'Записи не найдены']
  for (const viewport of [DESKTOP, PHONE]) {
    await page.setViewportSize(viewport)
    await expect.poll(() => main.getByRole('heading').allTextContents()).toEqual(titles)
    await main.getByText('Возможно, записи скоро появятся').waitFor()
    expect(await page.getByText('стена коротких записей').locator('visible=true').count()).toBe(0)
  }
  await tap(main.getByRole('button', { name: 'Написать первую запись' }))
  await dialogOf(page, 'Вход')

  await journey.fillWall(olga, 20)
  await page.goto(journey.url)
  const bar = page.getByRole('navigation', { name: 'Разделы' })
  const top = () => bar.evaluate((it) => Math.round(it.getBoundingClientRect().top))
  const shown = await top()
  const { height: header = 0 } = (await page.getByRole('banner').boundingBox()) ?? {}
  const firstPost = (await page.getByRole('article').first().boundingBox())?.y ?? shown
  expect((shown - firstPost) / (PHONE.height - header)).toBeGreaterThanOrEqual(0.8)

  // The bar hides on scrolling down, and returns with the focus.
  await whenScriptsRun(page)
  await scroll(page, 400)
  await expect.poll(top).toEqual(PHONE.height)
  await bar.getByRole('button', { name: 'Новая запись' }).focus()
  await expect.poll(top).toEqual(shown)
})

test('a wide screen has a side rail, a phone has a bar below', async ({ journey, olga }) => {
  await journey.publish(olga, 'Под полем')
  const page = await journey.visit({ as: olga, viewport: TABLET })
  await profileLink(page).waitFor()
  expect(await page.getByText('«Вслух» — стена коротких записей').count()).toBe(0)
  const bar = page.getByRole('navigation', { name: 'Разделы' })
  const controls = bar.locator('a:visible, button:visible')
  const label = bar.getByText('Новая запись')
  expect(await controls.evaluateAll(namesOf)).toEqual(['Стена', 'Новая запись', 'Светлая тема'])
  expect([await widthOf(bar), await widthOf(label)]).toEqual([76, 1])
  const field = page.getByRole('main').getByRole('button', { name: 'О чём скажете вслух?' })
  const { y = 0, height = 0 } = (await field.boundingBox()) ?? {}
  const first = await page.getByRole('article').first().boundingBox()
  expect(y + height).toBeLessThan(first?.y ?? 0)
  await tap(field)
  await dialogOf(page, 'Новая запись')
  await page.keyboard.press('Escape')

  await page.setViewportSize(DESKTOP)
  await expect.poll(() => widthOf(bar)).toBe(216)
  expect(await widthOf(label)).toBeGreaterThan(80)
  expect(await widthOf(page.getByRole('main'))).toBeLessThanOrEqual(600)
  // The name of the site is above them.
  const wide = ['Вслух', 'Стена', 'Новая запись', 'Светлая тема']
  expect(await controls.evaluateAll(namesOf)).toEqual(wide)

  await setLetters(page, 20)
  await expect.poll(() => widthOf(bar)).toBe(76)
  const { x: column = 0 } = (await page.getByRole('main').boundingBox()) ?? {}
  const labels = bar.getByText(/./)
  expect(await labels.count()).toBeGreaterThan(2)
  for (const each of await labels.all()) {
    const { x = 0, width = 0 } = (await each.boundingBox()) ?? {}
    expect(x + width).toBeLessThanOrEqual(column)
  }

  await page.setViewportSize(PHONE)
  const narrow = ['Стена', 'Новая запись', 'Настройки']
  await expect.poll(() => controls.evaluateAll(namesOf)).toEqual(narrow)
  expect(await field.isVisible()).toBe(false)
  for (const path of ['/settings', '/about']) {
    await page.goto(journey.url + path)
    await page.getByRole('main').getByRole('button', { name: 'Светлая тема' }).waitFor()
  }
})

test('at any width and letter size nothing is cut or outside', async ({ journey, olga }) => {
  await journey.fillWall(olga, 8)
  const username = 'konstantin_konstantinopolsky_322'
  const as = { token: olga.token }
  await journey.call('PATCH', '/users/current/profile', { ...as, body: { username } })
  const post = await journey.publish(olga, 'Что с именем?')
  await journey.call('PATCH', `/posts/${post.id}`, { ...as, body: { text: 'Что с его именем?' } })
  await journey.reply(olga, post.id, 'Имя длинное')
  const word = `Слишком${'длинное'.repeat(20)}слово и https://example.org/${'a'.repeat(90)}`
  await journey.publish(olga, word)
  await journey.signIn(olga.email)
  const page = await journey.visit({ as: olga })
  const header = page.getByRole('banner')
  for (const [path, text, isTitled] of [
    ['/', 'Слишкомдлинное', true],
    ['/own/replies', 'Имя длинное', true],
    [`/posts/${post.id}`, 'изменено', false],
    [authorPath(username), 'изменено', false],
    ['/privacy', 'Персональные данные', true],
    ['/settings/devices', 'Завершить другие сессии', true],
    ['/settings/account/email', 'Электронная почта', true],
  ] as const) {
    await page.goto(journey.url + path)
    // The tile takes some of the title's room.
    await profileLink(page).waitFor()
    await page.getByText(text).first().waitFor()
    const isList = path === '/' || path === '/own/replies'
    for (const [letters, widths] of [
      [16, isList ? [320, 390, 800, 1280] : [320, 390]],
      [32, [320, 390, 1280]],
    ] as const) {
      await setLetters(page, letters)
      for (const width of widths) {
        const message = `${path}, ${width} px, ${letters} px`
        await page.setViewportSize({ width, height: 844 })
        await expect.poll(() => page.evaluate(outside), { message }).toEqual(NOTHING)
        if (isTitled) expect(await isWhole(header.getByRole('heading')), message).toBe(true)
        // Elements that move during layout cover their neighbours for a frame.
        if (isList && letters === 16)
          await expect.poll(() => smallTargets(page), { message }).toEqual([])
      }
    }
  }

  await page.setViewportSize({ width: 320, height: 640 })
  await setLetters(page, 16)
  // Of a page below the settings, a phone shows nothing but this, and the title in one line.
  const shown = header.locator('a:visible, button:visible, h1:visible')
  const names = ['Назад', 'Электронная почта', `Профиль ${username}`]
  await expect.poll(() => shown.evaluateAll(namesOf)).toEqual(names)
  const { height = 0 } = (await header.getByRole('heading').boundingBox()) ?? {}
  // A second line would make it 46 px high.
  expect(height).toBeLessThan(40)

  await page.goto(journey.url)
  await chooseFromMenu(postWith(page, 'Что с его именем?'), 'Изменить')
  const dialog = await dialogOf(page, 'Изменение записи')
  const heading = dialog.getByRole('heading', { name: 'Изменение записи' })
  expect(await isWhole(heading)).toBe(true)
  const save = await dialog.getByRole('button', { name: 'Сохранить' }).boundingBox()
  const { x = 0, width: taken = 0 } = (await heading.boundingBox()) ?? {}
  expect(x + taken).toBeLessThanOrEqual(save?.x ?? 0)

  await closeByKey(dialog)
  await setLetters(page, 32)
  await page.keyboard.press('?')
  const shortcuts = await dialogOf(page, 'Сочетания клавиш')
  expect(await isWhole(shortcuts.locator('label'))).toBe(true)
})

/** Sets the size (px) that the person has chosen for letters in the browser. */
async function setLetters(page: Page, standard: number): Promise<void> {
  const browser = await page.context().newCDPSession(page)
  const fixed = Math.round(standard * 0.8)
  await browser.send('Page.setFontSizes', { fontSizes: { standard, fixed } })
}

function namesOf(elements: (HTMLElement | SVGElement)[]): (string | null)[] {
  return elements.map((it) => it.getAttribute('aria-label') ?? it.textContent)
}

function isWhole(text: Locator): Promise<boolean> {
  return text.evaluate(({ scrollWidth, clientWidth, scrollHeight, clientHeight }) => {
    return scrollWidth <= clientWidth && scrollHeight <= clientHeight + 1
  })
}

async function widthOf(element: Locator): Promise<number> {
  return element.evaluate((it) => Math.round(it.getBoundingClientRect().width))
}

const NOTHING = { header: [], screen: [], overflow: 0 }

/** Returns the names of visible links and buttons that are partly outside the header or the screen. */
function outside() {
  const header = document.querySelector('header:has(h1)')?.getBoundingClientRect()
  const { scrollWidth, clientWidth } = document.documentElement
  const namesOutside = (css: string, bounds: Partial<DOMRect> = {}) => {
    const { left = 0, right = clientWidth, top = -Infinity, bottom = Infinity } = bounds
    return [...document.querySelectorAll<HTMLElement>(css)].flatMap((it) => {
      const box = it.getBoundingClientRect()
      const isInside =
        box.left >= left && box.right <= right && box.top >= top && box.bottom <= bottom
      const isHidden = !it.checkVisibility({ visibilityProperty: true })
      return isInside || isHidden ? [] : [it.getAttribute('aria-label') ?? it.innerText]
    })
  }
  return {
    header: namesOutside('header:has(h1) :is(a, button, h1)', header),
    screen: namesOutside('a, button'),
    overflow: Math.max(0, scrollWidth - clientWidth),
  }
}

/**
 * Returns the names of buttons and links whose touch target is smaller than 44 px. Ignores the time
 * and the name of an author, which are lines of text: the card and the tile lead there too.
 */
function smallTargets(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const reach = 21
    const targets = document.querySelectorAll<HTMLElement>(
      'header button, header a, nav button, nav a, article button, article a:not([target], :has(time), [href^="/users/"]:not([aria-hidden]))',
    )
    const missed: string[] = []
    for (const target of targets) {
      const { left, top, width, height } = target.getBoundingClientRect()
      const [x, y] = [left + width / 2, top + height / 2]
      const inSight = x > 0 && y > reach && y < innerHeight - 80 && width > 1
      if (!inSight) continue
      const ends = [y - reach, y + reach].map((at) => document.elementFromPoint(x, at))
      if (!ends.every((end) => end && target.contains(end))) {
        missed.push(target.getAttribute('aria-label') ?? target.innerText)
      }
    }
    return [...new Set(missed)]
  })
}
