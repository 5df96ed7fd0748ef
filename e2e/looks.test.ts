import type { Locator, Page } from 'playwright-core'
import { expect } from 'vitest'
import { authorPath, SITE_DESCRIPTION } from '../contract/pages.ts'
import { DESKTOP, PHONE, TABLET, test } from './testing/journey.ts'
import { untilPainted } from './testing/layout-shifts.ts'
import { chooseFromMenu, dialogOf, postWith, scroll } from './testing/page-actions.ts'
import { profileLink } from './testing/sign-in-actions.ts'

test.beforeEach(async ({ journey, olga }) => {
  await journey.fillWall(olga, 30)
  const asked = await journey.publish(olga, 'Вопрос в строку')
  await journey.reply(olga, asked.id, 'И ответ')
})

test('the theme is dark at first; the choice survives a reload, and the other theme never flashes', async ({
  journey,
}) => {
  const page = await journey.visit({ colorScheme: 'light', viewport: DESKTOP })
  const dark = await backgroundOf(page)
  expect(brightness(dark)).toBeLessThan(60)
  await page.getByRole('button', { name: 'Светлая тема' }).click()
  const light = await backgroundOf(page)
  expect(brightness(light)).toBeGreaterThan(200)

  await page.addInitScript(recordBackgrounds)
  await page.reload()
  await page.getByRole('button', { name: 'Тёмная тема' }).waitFor()
  // The next frame shows the page that the app has just rendered.
  await untilPainted(page)
  const painted = await page.evaluate(() => Reflect.get(window, 'backgrounds') as string[])
  expect([...new Set(painted)]).toEqual([light])
  expect(await page.locator('meta[name=theme-color]').getAttribute('content')).toBe('#fbf9f6')

  await page.getByRole('button', { name: 'Тёмная тема' }).click()
  expect(await backgroundOf(page)).toBe(dark)
})

test('an empty wall shows what it is and asks for the first post', async ({ journey }) => {
  await journey.emptyWall()
  const page = await journey.visit()
  const main = page.getByRole('main')
  const titles = [SITE_DESCRIPTION.slice(0, -1), 'Записи не найдены']
  for (const viewport of [PHONE, DESKTOP]) {
    await page.setViewportSize(viewport)
    await expect.poll(() => main.getByRole('heading').allTextContents()).toEqual(titles)
    await main.getByText('Возможно, записи скоро появятся').waitFor()
    expect(await page.getByText('стена коротких записей').locator('visible=true').count()).toBe(0)
  }
  await main.getByRole('button', { name: 'Написать первую запись' }).click()
  await dialogOf(page, 'Вход')
})

test('on a phone posts fill four fifths of the screen; the bar below hides on scrolling down, and returns on scrolling up by any distance', async ({
  journey,
}) => {
  const page = await journey.visit()
  const bar = page.getByRole('navigation', { name: 'Разделы' })
  const top = () => bar.evaluate((it) => Math.round(it.getBoundingClientRect().top))
  const shown = await top()
  const { height: header = 0 } = (await page.getByRole('banner').boundingBox()) ?? {}
  const firstPost = (await page.getByRole('article').first().boundingBox())?.y ?? shown
  expect((shown - firstPost) / (PHONE.height - header)).toBeGreaterThanOrEqual(0.8)

  await scroll(page, 400)
  await expect.poll(top).toEqual(PHONE.height)
  await scroll(page, -3)
  await expect.poll(top).toEqual(shown)
  await scroll(page, 400)
  await expect.poll(top).toEqual(PHONE.height)
  await bar.getByRole('button', { name: 'Новая запись' }).focus()
  await expect.poll(top).toEqual(shown)
})

test('from 757 px a side rail shows icons, and from 1060 px labels if they fit, and a field above the posts; a phone has a bar below, and the theme in a page', async ({
  journey,
  olga,
}) => {
  const page = await journey.visit({ as: olga, viewport: TABLET })
  await profileLink(page).waitFor()
  const bar = page.getByRole('navigation', { name: 'Разделы' })
  const controls = bar.locator('a:visible, button:visible')
  const label = bar.getByText('Новая запись')
  expect(await controls.evaluateAll(namesOf)).toEqual(['Стена', 'Новая запись', 'Светлая тема'])
  expect([await widthOf(bar), await widthOf(label)]).toEqual([76, 1])
  const field = page.getByRole('main').getByRole('button', { name: 'О чём скажете вслух?' })
  const { y = 0, height = 0 } = (await field.boundingBox()) ?? {}
  const first = await page.getByRole('article').first().boundingBox()
  expect(y + height).toBeLessThan(first?.y ?? 0)
  await field.click()
  const dialog = await dialogOf(page, 'Новая запись')
  await page.keyboard.press('Escape')
  await dialog.waitFor({ state: 'detached' })

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

test('at any width nothing overflows and every target can be tapped', async ({ journey, olga }) => {
  const text = `Слишком${'длинное'.repeat(20)}слово и https://example.org/${'a'.repeat(90)}`
  await journey.publish(olga, text)
  const page = await journey.visit({ as: olga })
  const widths = [{ width: 320, height: 640 }, PHONE, TABLET, DESKTOP]
  await postWith(page, 'Слишкомдлинное').first().waitFor()
  for (const viewport of widths) {
    await page.setViewportSize(viewport)
    expect(await page.evaluate(outside), `${viewport.width} px`).toEqual(NOTHING)
    // Elements that move during layout cover their neighbours for a frame.
    await expect.poll(() => smallTargets(page)).toEqual([])
  }
  await page.goto(`${journey.url}/own/replies`)
  await page.getByRole('link', { name: /Вопрос в строку$/ }).waitFor()
  for (const viewport of widths) {
    await page.setViewportSize(viewport)
    await expect.poll(() => smallTargets(page)).toEqual([])
  }
})

test('with the longest name, and letters twice as large, titles are whole and nothing is outside the header or the screen', async ({
  journey,
  olga,
}) => {
  const username = 'konstantin_konstantinopolsky_322'
  const as = { token: olga.token }
  await journey.call('PATCH', '/users/current/profile', { ...as, body: { username } })
  const post = await journey.publish(olga, 'Что с именем?')
  await journey.call('PATCH', `/posts/${post.id}`, { ...as, body: { text: 'Что с его именем?' } })
  await journey.reply(olga, post.id, 'Имя длинное')
  const page = await journey.visit({ as: olga })
  const header = page.getByRole('banner')
  for (const [path, title] of [
    ['/', 'Стена'],
    [`/posts/${post.id}`, undefined],
    [authorPath(username), undefined],
    ['/privacy', 'Персональные данные'],
    ['/settings/account/email', 'Электронная почта'],
  ] as const) {
    await page.goto(journey.url + path)
    // The tile takes some of the title's room.
    await profileLink(page).waitFor()
    if (!title) await page.getByText('изменено').first().waitFor()
    for (const [letters, widths] of [
      [16, [320, 390]],
      [32, [320, 390, 1280]],
    ] as const) {
      await setLetters(page, letters)
      for (const width of widths) {
        const where = `${path}, ${width} px, ${letters} px`
        await page.setViewportSize({ width, height: 844 })
        await expect.poll(() => page.evaluate(outside), { message: where }).toEqual(NOTHING)
        if (title) {
          expect(await isWhole(header.getByRole('heading', { name: title })), where).toBe(true)
        }
      }
    }
  }

  await page.setViewportSize({ width: 320, height: 640 })
  await setLetters(page, 16)
  // Of a page below the settings, a phone shows nothing but this, and the title in one line.
  const shown = header.locator('a:visible, button:visible, h1:visible')
  const names = ['Назад', 'Электронная почта', `Профиль ${username}`]
  await expect.poll(() => shown.evaluateAll(namesOf)).toEqual(names)
  await expect.poll(() => header.getByRole('heading').evaluate(lineCount)).toBe(1)

  await page.goto(journey.url)
  await chooseFromMenu(postWith(page, 'Что с его именем?'), 'Изменить')
  const dialog = await dialogOf(page, 'Изменение записи')
  const heading = dialog.getByRole('heading', { name: 'Изменение записи' })
  expect(await isWhole(heading)).toBe(true)
  const save = await dialog.getByRole('button', { name: 'Сохранить' }).boundingBox()
  const { x = 0, width: taken = 0 } = (await heading.boundingBox()) ?? {}
  expect(x + taken).toBeLessThanOrEqual(save?.x ?? 0)
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

function lineCount(element: Element): number {
  const range = document.createRange()
  range.selectNodeContents(element)
  return new Set([...range.getClientRects()].map(({ top }) => top)).size
}

function isWhole(text: Locator): Promise<boolean> {
  return text.evaluate(({ scrollWidth, clientWidth, scrollHeight, clientHeight }) => {
    return scrollWidth <= clientWidth && scrollHeight <= clientHeight + 1
  })
}

function backgroundOf(page: Page): Promise<string> {
  return page.evaluate(() => getComputedStyle(document.body).backgroundColor)
}

function brightness(color: string): number {
  const [red, green, blue] = color.match(/[\d.]+/g) ?? []
  return Math.max(Number(red), Number(green), Number(blue))
}

async function widthOf(element: Locator): Promise<number> {
  return element.evaluate((it) => Math.round(it.getBoundingClientRect().width))
}

const NOTHING = { header: [], screen: [], overflow: 0 }

/** Returns the names of visible links and buttons that are partly outside the header or the screen. */
function outside() {
  const nameOf = (it: HTMLElement) => it.getAttribute('aria-label') ?? it.innerText
  const isIn = (inner: DOMRect, outer: DOMRect) =>
    inner.left >= outer.left &&
    inner.right <= outer.right &&
    inner.top >= outer.top &&
    inner.bottom <= outer.bottom
  const partsOf = (css: string) =>
    [...document.querySelectorAll<HTMLElement>(css)].filter((it) =>
      it.checkVisibility({ visibilityProperty: true }),
    )
  const header = document.querySelector('header:has(h1)')?.getBoundingClientRect()
  const { scrollWidth, clientWidth } = document.documentElement
  return {
    header: partsOf('header:has(h1) :is(a, button, h1)')
      .filter((it) => header && !isIn(it.getBoundingClientRect(), header))
      .map(nameOf),
    screen: partsOf('a, button')
      .filter((it) => {
        const { left, right } = it.getBoundingClientRect()
        return left < 0 || right > clientWidth
      })
      .map(nameOf),
    overflow: Math.max(0, scrollWidth - clientWidth),
  }
}

/** Records the page's background at each frame from the first one that has a body. */
function recordBackgrounds(): void {
  const backgrounds: string[] = []
  Reflect.set(window, 'backgrounds', backgrounds)
  const look = () => {
    if (document.body) backgrounds.push(getComputedStyle(document.body).backgroundColor)
    requestAnimationFrame(look)
  }
  requestAnimationFrame(look)
}

/**
 * Returns the names of buttons and links whose touch target is smaller than 44 px. Ignores the time
 * and the name of an author, which are lines of text: the card and the tile lead there too.
 */
function smallTargets(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const reach = 21
    const targets = document.querySelectorAll<HTMLElement>(
      'header button, header a, nav button, nav a, article button, article a:not([target], :has(time), [id$="-author"])',
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
