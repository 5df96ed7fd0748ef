import type { Locator } from 'playwright-core'
import { expect } from 'vitest'
import { tap } from './testing/hands.ts'
import { test } from './testing/journey.ts'
import { chooseFromMenu, openMenu, postWith } from './testing/page/feed.ts'
import { boxOf, bringTo, readOn } from './testing/page/layout.ts'
import { REFUSED } from './testing/page/network.ts'
import { closeByKey, dialogOf, toast, untilStill } from './testing/page/overlays.ts'

test('the menu of a post lets owners edit, others report', async ({ journey, olga, petr }) => {
  await journey.publish(olga, 'Моя запись')
  await journey.rows(`UPDATE posts SET created_at = now() - interval '11 minutes'`)
  await journey.publish(olga, 'Моя свежая запись')
  await journey.publish(petr, 'Чужая запись')
  const known = Promise.withResolvers<void>()
  const page = await journey.visit({
    as: olga,
    before: (it) =>
      it.route('**/api/v1/users/current', (route) => known.promise.then(() => route.continue())),
  })
  // A menu opened before the viewer is known gains the owner’s items.
  const early = await openMenu(postWith(page, 'Моя свежая запись'))
  const gained = early.getByRole('menuitem', { name: 'Удалить' })
  expect(await gained.count()).toBe(0)
  known.resolve()
  await gained.waitFor()
  // They are longer, and the list has become wider: no item takes a second line.
  const spans = early.getByRole('menuitem').locator('span:not(.visually-hidden)')
  const heights = await spans.evaluateAll((all) => all.map((it) => it.clientHeight))
  expect(new Set(heights).size).toBe(1)
  await closeByKey(early)

  const items = async (text: string) => {
    const menu = await openMenu(postWith(page, text))
    const names = await menu.getByRole('menuitem').allInnerTexts()
    await closeByKey(menu)
    return names
  }
  const copy = ['Скопировать ссылку', 'Скопировать текст']
  const own = [...copy, 'Не сообщать об ответах', 'Удалить']
  expect(await items('Моя запись')).toEqual(['Уточнить', 'Написать заново', ...own])
  const edit = expect.stringMatching(/^Изменить\s+,\s+(9:\d\d|10:00)$/)
  expect(await items('Моя свежая запись')).toEqual([edit, ...own])
  expect(await items('Чужая запись')).toEqual([
    ...copy,
    ...['Скрыть автора', 'Скрыть на неделю', 'Пожаловаться'],
  ])

  await chooseFromMenu(postWith(page, 'Чужая запись'), 'Пожаловаться')
  const dialog = await dialogOf(page, 'Пожаловаться')
  const send = dialog.getByRole('button', { name: 'Отправить', exact: true })
  const radios = dialog.getByRole('radio')
  const field = dialog.getByLabel('Что нарушено?')
  const error = dialog.getByRole('alert').getByText(REFUSED.json.message)
  await page.route('**/reports?*', (route) => route.fulfill(REFUSED))
  for (const reason of ['Спам или реклама', 'Другое нарушение']) {
    await page.reload()
    await expect.poll(() => radios.count()).toBe(8)
    expect(await send.isDisabled()).toBe(true)
    await dialog.getByRole('radio', { name: reason }).check()
    expect(await send.isEnabled()).toBe(true)
    await untilStill(dialog)
    const { top } = await boxOf(radios.last())
    await tap(send)
    await error.waitFor()
    expect((await boxOf(radios.last())).top).toBeCloseTo(top, 0)
  }

  // The dialog is higher than the window of a laptop.
  await page.setViewportSize({ width: 1366, height: 600 })
  const isInSight = async (it: Locator) => (await boxOf(it)).bottom <= (await boxOf(send)).top
  await dialog.getByRole('radio', { name: 'Спам или реклама' }).check()
  await tap(send)
  await expect.poll(() => isInSight(error)).toBe(true)
  await dialog.getByRole('radio', { name: 'Другое нарушение' }).check()
  await expect.poll(() => isInSight(field)).toBe(true)
})

test('a menu is whole on any screen, and follows its button', async ({ journey, olga }) => {
  await journey.fillWall(olga, 18)
  const page = await journey.visit({ as: olga })
  // There are enough posts below this one to scroll it out of sight.
  await readOn(page, 18)
  const post = postWith(page, 'Запись 12')
  const button = post.getByRole('button', { name: 'Ещё' })
  for (const [width, height, top, side] of [
    [320, 640, 128, 'below'],
    [320, 640, 512, 'above'],
    [320, 200, 40, 'below'],
    [1280, 720, 576, 'above'],
  ] as const) {
    await page.setViewportSize({ width, height })
    await bringTo(button, top)
    // Playwright's click would scroll by itself.
    await button.evaluate((it: HTMLElement) => it.click())
    const menu = page.getByRole('menu')
    await menu.getByRole('menuitem', { name: 'Изменить' }).waitFor()
    expect(await standing(menu, button)).toBe(side)
    await page.evaluate(() => scrollBy(0, 10))
    await expect.poll(() => standing(menu, button)).toBe(side)
    await page.keyboard.press('End')
    const last = menu.getByRole('menuitem', { name: 'Удалить' })
    expect(await last.evaluate((it) => it === document.activeElement)).toBe(true)
    await expect.poll(() => isInside(last, menu)).toBe(true)
    await page.evaluate(() => scrollBy(0, 2 * innerHeight))
    await menu.waitFor({ state: 'detached' })
  }
})

test('the link and the text of a post are copied or shared', async ({ journey, petr }) => {
  const { id } = await journey.publish(petr, 'Передай другому')
  const page = await journey.visit({
    permissions: ['clipboard-read', 'clipboard-write'],
    before: (it) => it.addInitScript(recordShared),
  })
  const address = `${journey.url}/posts/${id}`
  const post = postWith(page, 'Передай другому')
  const copied = () => page.evaluate(() => navigator.clipboard.readText())
  await chooseFromMenu(post, 'Скопировать ссылку')
  await toast(page, 'Ссылка скопирована').waitFor()
  expect(await copied()).toBe(address)
  await chooseFromMenu(post, 'Скопировать текст')
  await toast(page, 'Текст скопирован').waitFor()
  expect(await copied()).toBe('Передай другому')
  await chooseFromMenu(post, 'Поделиться')
  const shared = () => page.evaluate(() => Reflect.get(window, 'shared'))
  await expect.poll(shared).toEqual({ url: address })

  // Both ways in which a browser can copy.
  await page.evaluate(() => {
    Object.defineProperty(navigator, 'clipboard', { value: undefined })
    document.execCommand = () => false
  })
  await chooseFromMenu(post, 'Скопировать ссылку')
  await toast(page, 'Не получилось скопировать').waitFor()
  expect(await toast(page, 'Ссылка скопирована').count()).toBe(0)
})

test.for([
  { by: 'mouse', hasTouch: false },
  { by: 'touch', hasTouch: true },
])(
  'a press outside a menu, a list or a dialog only closes it, by $by',
  async ({ hasTouch }, { journey, olga, petr }) => {
    await journey.publish(petr, 'Откроется вторым нажатием')
    await journey.publish(olga, `Лежит под окном${'\nи ниже него'.repeat(9)}`)
    const page = await journey.visit({ as: olga, hasTouch })
    const beneath = postWith(page, 'Лежит под окном')
    const press = async (post: Locator) => {
      const { left, bottom } = await boxOf(post)
      const [x, y] = [left + 30, bottom - 20]
      await (hasTouch ? page.touchscreen.tap(x, y) : page.mouse.click(x, y))
    }
    for (const [role, open] of [
      ['menu', () => openMenu(beneath)],
      ['listbox', () => tap(page.getByRole('button', { name: 'Новые' }))],
      ['dialog', () => chooseFromMenu(beneath, 'Удалить')],
    ] as const) {
      await open()
      const inFront = page.getByRole(role)
      await inFront.waitFor()
      await press(beneath)
      await inFront.waitFor({ state: 'detached' })
      await beneath.waitFor()
    }
    await press(postWith(page, 'Откроется вторым нажатием'))
    await page.waitForURL('**/posts/*')
    await postWith(page, 'Откроется вторым нажатием').waitFor()
    expect(await page.evaluate(() => history.length)).toBe(3)
  },
)

/** Returns the position of a menu, which must be completely on the screen. */
async function standing(menu: Locator, button: Locator): Promise<string> {
  const { width = 0, height = 0 } = menu.page().viewportSize() ?? {}
  const [list, anchor] = [await boxOf(menu), await boxOf(button)]
  const isWhole =
    list.left >= 8 && list.right <= width - 8 && list.top >= 8 && list.bottom <= height - 8
  if (!isWhole) return `not whole: ${JSON.stringify(list)}`
  if (list.top >= anchor.bottom) return 'below'
  return list.bottom <= anchor.top ? 'above' : 'over its button'
}

async function isInside(item: Locator, menu: Locator): Promise<boolean> {
  const [inner, outer] = [await boxOf(item), await boxOf(menu)]
  return inner.top >= outer.top && inner.bottom <= outer.bottom
}

/** Replaces the share sheet of a browser that can share. */
function recordShared(): void {
  Object.defineProperty(navigator, 'share', {
    value: async (data: ShareData) => Reflect.set(window, 'shared', data),
  })
}
