import type { Locator, Page } from 'playwright-core'
import { expect } from 'vitest'
import { authorPath, SITE_DESCRIPTION } from '../contract/pages.ts'
import { DESKTOP, PHONE, TABLET, test } from './testing/journey.ts'
import { recordShifts, sumOfShifts, untilPainted } from './testing/layout-shifts.ts'
import {
  chooseFromMenu,
  dialogOf,
  goOffline,
  holdCalls,
  postWith,
  scroll,
  styleOf,
} from './testing/page-actions.ts'
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

test('on wide screens the first row of the wall is a field that opens the composer; a phone has none', async ({
  journey,
  olga,
}) => {
  const page = await journey.visit({ as: olga, viewport: TABLET, before: recordShifts })
  await profileLink(page).waitFor()
  const field = page.getByRole('main').getByRole('button', { name: 'О чём скажете вслух?' })
  const first = await postWith(page, 'Вопрос в строку').boundingBox()
  const { y = 0, height = 0 } = (await field.boundingBox()) ?? {}
  expect(y + height).toBeLessThan(first?.y ?? 0)
  expect(await sumOfShifts(page)).toBeLessThan(0.001)
  await field.click()
  await dialogOf(page, 'Новая запись')
  await page.keyboard.press('Escape')
  await page.setViewportSize(PHONE)
  await field.waitFor({ state: 'hidden' })
})

test.for([
  { name: 'a phone', viewport: PHONE },
  { name: 'a desktop', viewport: DESKTOP },
])(
  'on $name an empty wall shows what it is and asks for the first post',
  async ({ viewport }, { journey }) => {
    await journey.emptyWall()
    const page = await journey.visit({ viewport })
    const main = page.getByRole('main')
    const titles = [SITE_DESCRIPTION.slice(0, -1), 'Записи не найдены']
    await expect.poll(() => main.getByRole('heading').allTextContents()).toEqual(titles)
    await main.getByText('Возможно, записи скоро появятся').waitFor()
    expect(await page.getByText('стена коротких записей').locator('visible=true').count()).toBe(0)
    await main.getByRole('button', { name: 'Написать первую запись' }).click()
    await dialogOf(page, 'Вход')
  },
)

test('on a phone the theme is changed in the foot of a page, or in the settings', async ({
  journey,
  olga,
}) => {
  const newcomer = await journey.signUp()
  const { id } = await journey.publish(newcomer, 'Единственная запись')
  for (const visit of [
    { path: '/about' },
    { path: '/search' },
    { path: `/posts/${id}` },
    { path: `/users/${newcomer.username}` },
    { path: '/settings', as: olga },
  ]) {
    const page = await journey.visit(visit)
    const toggle = page.getByRole('main').getByRole('button', { name: 'Светлая тема' })
    await toggle.click()
    await page.locator('html[data-theme=light]').waitFor()
    expect(await page.getByRole('banner').getByRole('button', { name: /тема/ }).count()).toBe(0)
  }
})

test('on a phone posts fill at least four fifths of the first screen below the header', async ({
  journey,
}) => {
  const page = await journey.visit()
  const edge = async (of: Locator) => {
    const { y = 0, height = 0 } = (await of.boundingBox()) ?? {}
    return { top: y, bottom: y + height }
  }
  const header = await edge(page.getByRole('banner'))
  const firstPost = await edge(page.getByRole('article').first())
  const bar = await edge(page.getByRole('navigation', { name: 'Разделы' }))
  const share = (bar.top - firstPost.top) / (PHONE.height - header.bottom)
  expect(share).toBeGreaterThanOrEqual(0.8)
})

test('on a phone the bottom bar hides on scrolling down and returns on scrolling up by any distance', async ({
  journey,
}) => {
  const page = await journey.visit({ viewport: PHONE })
  await postWith(page, 'Запись 30').waitFor()
  const bar = page.getByRole('navigation', { name: 'Разделы' })
  const top = () => bar.evaluate((it) => Math.round(it.getBoundingClientRect().top))
  const shown = await top()
  expect(shown).toBeLessThan(PHONE.height - 40)
  await scroll(page, 400)
  await expect.poll(top).toEqual(PHONE.height)
  await scroll(page, -3)
  await expect.poll(top).toEqual(shown)
  await scroll(page, 400)
  await expect.poll(top).toEqual(PHONE.height)
  await bar.getByRole('button', { name: 'Новая запись' }).focus()
  await expect.poll(top).toEqual(shown)
})

test('the side rail shows icons from 757 px, and labels beside them from 1060 px', async ({
  journey,
}) => {
  const page = await journey.visit({ viewport: TABLET })
  await postWith(page, 'Запись 30').waitFor()
  const rail = page.getByRole('navigation', { name: 'Разделы' })
  const words = rail.getByText('Новая запись')
  expect(await rail.count()).toBe(1)
  expect(await widthOf(rail)).toBe(76)
  expect(await widthOf(words)).toBe(1)
  expect(await rail.getByRole('button', { name: 'Светлая тема' }).count()).toBe(1)

  await page.setViewportSize(DESKTOP)
  await expect.poll(() => widthOf(rail)).toBe(216)
  expect(await widthOf(words)).toBeGreaterThan(80)
  expect(await widthOf(page.getByRole('main'))).toBeLessThanOrEqual(600)
})

test.for([
  { name: 'a phone', viewport: PHONE },
  { name: 'a wide screen, which then has a phone’s layout', viewport: DESKTOP },
])(
  'with letters twice as large titles and icons fit the header of $name',
  async ({ viewport }, { journey, olga }) => {
    const page = await journey.visit({ as: olga, viewport })
    await setLetters(page, 32)
    const header = page.getByRole('banner')
    for (const [path, name] of [
      ['/', 'Стена'],
      ['/consent', 'Согласие на обработку'],
      ['/settings/account/email', 'Электронная почта'],
    ] as const) {
      await page.goto(journey.url + path)
      await profileLink(page).waitFor()
      const bar = page.getByRole('navigation', { name: 'Разделы' })
      await expect
        .poll(async () => (await bar.boundingBox())?.y)
        .toBeGreaterThan(viewport.height / 2)
      const title = header.getByRole('heading', { level: 1, name })
      expect(await isWhole(title), path).toBe(true)
      expect(await page.evaluate(overflow), path).toBeLessThanOrEqual(0)
      const outer = await header.boundingBox()
      for (const part of [title, ...(await header.locator('a:visible, button:visible').all())]) {
        expect(isWithin(await part.boundingBox(), outer), `${path}: ${part}`).toBe(true)
      }
    }
  },
)

test('with larger letters the labels of the side rail do not reach the column of posts', async ({
  journey,
}) => {
  const page = await journey.visit({ viewport: DESKTOP })
  await setLetters(page, 20)
  await postWith(page, 'Запись 30').waitFor()
  const rail = page.getByRole('navigation', { name: 'Разделы' })
  await expect.poll(() => widthOf(rail)).toBe(76)
  const { x: column = 0 } = (await page.getByRole('main').boundingBox()) ?? {}
  const labels = rail.getByText(/./)
  expect(await labels.count()).toBeGreaterThan(2)
  for (const label of await labels.all()) {
    const { x = 0, width = 0 } = (await label.boundingBox()) ?? {}
    expect(x + width).toBeLessThanOrEqual(column)
  }
})

test('wide screens: side rail with feed link, new-post button and theme toggle; mobile: bottom bar with feed, new post and settings', async ({
  journey,
  olga,
}) => {
  const page = await journey.visit({ as: olga, viewport: TABLET })
  const bar = page.getByRole('navigation', { name: 'Разделы' })
  const controls = bar.locator('a:visible, button:visible')
  await profileLink(page).waitFor()
  expect(await controls.evaluateAll(namesOf)).toEqual(['Стена', 'Новая запись', 'Светлая тема'])
  await page.setViewportSize(DESKTOP)
  // The name of the site is above them.
  const wide = ['Вслух', 'Стена', 'Новая запись', 'Светлая тема']
  await expect.poll(() => controls.evaluateAll(namesOf)).toEqual(wide)
  await page.setViewportSize(PHONE)
  const narrow = ['Стена', 'Новая запись', 'Настройки']
  await expect.poll(() => controls.evaluateAll(namesOf)).toEqual(narrow)
})

test('nothing in the side rail moves when the viewer becomes known', async ({ journey, olga }) => {
  const page = await journey.visit({ as: olga, viewport: DESKTOP })
  const write = page.getByRole('button', { name: 'Новая запись' })
  await profileLink(page).waitFor()
  const whoCame = await holdCalls(page, /\/users\/current$/)
  await page.reload()
  await whoCame.asked
  const before = await write.boundingBox()
  expect(before).not.toBe(null)
  expect(await profileLink(page).count()).toBe(0)
  whoCame.letGo()
  await profileLink(page).waitFor()
  expect(await write.boundingBox()).toEqual(before)
})

test.for([
  { name: 'a phone', viewport: PHONE },
  { name: 'a desktop', viewport: DESKTOP },
])(
  'offline, the banner is visible at any scroll position on $name, and moves nothing',
  async (screen, { journey }) => {
    const page = await journey.visit({ viewport: screen.viewport })
    const banner = page.getByText('Нет связи. Читать можно, а написанное отправим позже', {
      exact: true,
    })
    for (const [text, by] of [
      ['Запись 29', 0],
      ['Запись 26', 300],
    ] as const) {
      const post = postWith(page, text)
      await post.waitFor()
      await scroll(page, by)
      await expect.poll(() => page.evaluate(() => scrollY)).toBe(by)
      const before = await post.boundingBox()
      await goOffline(page)
      await expect.poll(() => isWholeInSight(banner)).toBe(true)
      expect(await post.boundingBox()).toEqual(before)
      expect(await distanceFromMiddle(banner)).toBeLessThan(2)
      await page.context().setOffline(false)
      await banner.waitFor({ state: 'detached' })
      expect(await post.boundingBox()).toEqual(before)
    }
  },
)

test.for([
  { name: 'a small phone', viewport: { width: 320, height: 640 } },
  { name: 'a phone', viewport: PHONE },
  { name: 'a tablet', viewport: TABLET },
  { name: 'a desktop', viewport: DESKTOP },
])(
  'on $name nothing overflows, and every target can be tapped',
  async ({ viewport }, { journey, olga }) => {
    await journey.publish(
      olga,
      `Слишком${'длинное'.repeat(20)}слово и https://example.org/${'a'.repeat(90)}`,
    )
    const page = await journey.visit({ as: olga, viewport })
    await postWith(page, 'Слишкомдлинное').first().waitFor()
    expect(await page.evaluate(overflow)).toBeLessThanOrEqual(0)
    // Elements that move during layout cover their neighbours for a frame.
    await expect.poll(() => smallTargets(page)).toEqual([])

    await page.goto(`${journey.url}/own/replies`)
    await page.getByRole('link', { name: /Вопрос в строку$/ }).waitFor()
    await expect.poll(() => smallTargets(page)).toEqual([])
  },
)

test('the longest name leaves nothing outside the screen of a phone, with letters twice as large too', async ({
  journey,
  olga,
}) => {
  const username = 'konstantin_konstantinopolsky_322'
  const as = { token: olga.token }
  await journey.call('PATCH', '/users/current/profile', { ...as, body: { username } })
  const post = await journey.publish(olga, 'Что с именем?')
  await journey.call('PATCH', `/posts/${post.id}`, { ...as, body: { text: 'Что с его именем?' } })
  await journey.reply(olga, post.id, 'Имя длинное')
  const page = await journey.visit({ as: olga, viewport: PHONE })
  for (const [width, letters] of [
    [320, 16],
    [390, 16],
    [320, 32],
    [390, 32],
  ] as const) {
    await page.setViewportSize({ width, height: 844 })
    await setLetters(page, letters)
    for (const path of [
      '/',
      '/own/posts',
      `/posts/${post.id}`,
      '/search?q=именем',
      authorPath(username),
    ]) {
      await page.goto(journey.url + path)
      await profileLink(page).waitFor()
      await page.getByText('изменено').first().waitFor()
      await expect
        .poll(() => page.evaluate(namesOutside), { message: `${path}, ${width} px, ${letters} px` })
        .toEqual([])
    }
  }
})

test.for([320, 390])('no title is cut on a phone of %d px', async (width, { journey, olga }) => {
  const page = await journey.visit({ as: olga, viewport: { width, height: 640 } })
  const brand = page.getByRole('banner').getByRole('link', { name: 'Вслух' })
  await brand.waitFor()
  for (const [path, name] of [
    ['/privacy', 'Персональные данные'],
    ['/settings/account/email', 'Электронная почта'],
  ] as const) {
    await page.goto(journey.url + path)
    // The tile takes some of the title's room.
    await profileLink(page).waitFor()
    expect(await isWhole(page.getByRole('heading', { level: 1, name }))).toBe(true)
  }
  await page.goto(journey.url)
  await chooseFromMenu(postWith(page, 'Вопрос в строку'), 'Изменить')
  const dialog = page.getByRole('dialog')
  const title = dialog.getByRole('heading', { name: 'Изменение записи' })
  expect(await isWhole(title)).toBe(true)
  const save = await dialog.getByRole('button', { name: 'Сохранить' }).boundingBox()
  const { x = 0, width: taken = 0 } = (await title.boundingBox()) ?? {}
  expect(x + taken).toBeLessThanOrEqual(save?.x ?? 0)
})

test('on pages below the settings the header of a phone shows back, title and tile only, and the title in one line', async ({
  journey,
  olga,
}) => {
  const page = await journey.visit({ as: olga })
  const header = page.getByRole('banner')
  const shown = header.locator('a:visible, button:visible, h1:visible')
  for (const [path, title] of [
    ['/settings/account/email', 'Электронная почта'],
    ['/settings/account/username', 'Имя пользователя'],
    ['/settings/account/delete', 'Удаление аккаунта'],
    ['/settings/devices', 'Устройства'],
    ['/settings/hidden', 'Скрытое'],
    ['/settings/reports', 'Мои жалобы'],
  ]) {
    await page.goto(journey.url + path)
    const names = ['Назад', title, `Профиль ${olga.username}`]
    await expect.poll(() => shown.evaluateAll(namesOf)).toEqual(names)
    expect(await header.getByRole('heading', { level: 1 }).evaluate(lineCount)).toBe(1)
  }
})

test('a dangerous action has an outlined button, which is filled only in the confirmation', async ({
  journey,
  olga,
}) => {
  const page = await journey.visit({ as: olga, path: '/settings/account/delete' })
  const ask = page.getByRole('button', { name: 'Получить код' })
  expect(await styleOf(ask, 'background-color')).toBe('rgba(0, 0, 0, 0)')
  expect(await styleOf(ask, 'box-shadow')).toContain('inset')
  await page.goto(journey.url)
  await chooseFromMenu(postWith(page, 'Вопрос в строку'), 'Удалить')
  const confirm = page.getByRole('dialog').getByRole('button', { name: 'Удалить' })
  expect(await styleOf(confirm, 'background-color')).toBe('rgb(194, 51, 76)')
})

/** Sets the size (px) that the person has chosen for letters in the browser. */
async function setLetters(page: Page, standard: number): Promise<void> {
  const browser = await page.context().newCDPSession(page)
  const fixed = Math.round(standard * 0.8)
  await browser.send('Page.setFontSizes', { fontSizes: { standard, fixed } })
}

/** Returns how far (px) the middle of an element's text is above or below its own. */
function distanceFromMiddle(element: Locator): Promise<number> {
  return element.evaluate((it) => {
    const range = document.createRange()
    range.selectNodeContents(it)
    const middleOf = ({ y, height }: DOMRect) => y + height / 2
    return Math.abs(middleOf(range.getBoundingClientRect()) - middleOf(it.getBoundingClientRect()))
  })
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

/** Whether an element is not covered, and all of it is within the viewport. */
async function isWholeInSight(element: Locator): Promise<boolean> {
  if ((await element.count()) === 0) return false
  return element.evaluate((it) => {
    const { left, right, top, bottom } = it.getBoundingClientRect()
    const corners = [top + 2, bottom - 2].flatMap((y) => [left + 2, right - 2].map((x) => [x, y]))
    return corners.every(([x = 0, y = 0]) => {
      const seen = document.elementFromPoint(x, y)
      return seen !== null && it.contains(seen)
    })
  })
}

async function widthOf(element: Locator): Promise<number> {
  return element.evaluate((it) => Math.round(it.getBoundingClientRect().width))
}

type Box = { x: number; y: number; width: number; height: number } | null

function isWithin(inner: Box, outer: Box): boolean {
  if (!inner || !outer) return false
  const isBetween = (from: 'x' | 'y', size: 'width' | 'height') =>
    inner[from] >= outer[from] && inner[from] + inner[size] <= outer[from] + outer[size]
  return isBetween('x', 'width') && isBetween('y', 'height')
}

/** Returns how many px the page is wider than the viewport. */
function overflow(): number {
  const { scrollWidth, clientWidth } = document.documentElement
  return scrollWidth - clientWidth
}

/** Returns the names of visible links and buttons that are partly beside the viewport. */
function namesOutside(): string[] {
  return [...document.querySelectorAll<HTMLElement>('a, button')]
    .filter((element) => {
      const { left, right } = element.getBoundingClientRect()
      const isInside = left >= 0 && right <= document.documentElement.clientWidth
      return !isInside && element.checkVisibility({ visibilityProperty: true })
    })
    .map((element) => element.getAttribute('aria-label') ?? element.innerText)
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
