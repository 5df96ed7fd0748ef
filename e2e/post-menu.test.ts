import type { Locator } from 'playwright-core'
import { expect } from 'vitest'
import { test } from './testing/journey.ts'
import {
  bringTo,
  chooseFromMenu,
  holdCalls,
  openMenu,
  postWith,
  readOn,
  refuseToCopy,
  toast,
} from './testing/page-actions.ts'

test('its menu lets the owner edit a post, and others report it', async ({
  journey,
  olga,
  petr,
}) => {
  const own = await journey.publish(olga, 'Моя запись')
  await journey.sql.query(
    `UPDATE posts SET created_at = now() - interval '11 minutes' WHERE id = $1`,
    [own.id],
  )
  await journey.publish(olga, 'Моя свежая запись')
  await journey.publish(petr, 'Чужая запись')
  const page = await journey.visit({ as: olga })
  await page.getByRole('link', { name: 'Ответы мне' }).waitFor()
  const items = async (text: string) => {
    const menu = await openMenu(postWith(page, text))
    const names = await menu.getByRole('menuitem').allInnerTexts()
    await page.keyboard.press('Escape')
    await menu.waitFor({ state: 'detached' })
    return names
  }
  expect(await items('Моя запись')).toEqual([
    'Скопировать ссылку',
    'Скопировать текст',
    'Не сообщать об этой записи',
    'Удалить и написать заново',
    'Удалить',
  ])
  expect(await items('Моя свежая запись')).toEqual([
    expect.stringMatching(/^Изменить\s+(9:\d\d|10:00)$/),
    'Скопировать ссылку',
    'Скопировать текст',
    'Не сообщать об этой записи',
    'Удалить',
  ])
  expect(await items('Чужая запись')).toEqual([
    'Скопировать ссылку',
    'Скопировать текст',
    'Скрыть автора',
    'Пожаловаться',
  ])
})

test('a menu is whole on any screen, below its button or above it, and follows it until it is out of sight', async ({
  journey,
  olga,
}) => {
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
    [320, 200, 160, 'above'],
    [1280, 720, 144, 'below'],
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

test('a menu opened before the viewer is known stays open, and gains the owner’s items', async ({
  journey,
  olga,
}) => {
  await journey.publish(olga, 'Кто я')
  let viewer: Awaited<ReturnType<typeof holdCalls>> | undefined
  const page = await journey.visit({
    as: olga,
    viewport: { width: 390, height: 844 },
    before: async (it) => {
      viewer = await holdCalls(it, '**/api/v1/users/current')
    },
  })
  const menu = await openMenu(postWith(page, 'Кто я'))
  const items = menu.getByRole('menuitem')
  expect(await items.filter({ hasText: 'Удалить' }).count()).toBe(0)
  viewer?.letGo()
  await items.filter({ hasText: 'Удалить' }).waitFor()
  // The new items are longer, and the list has become wider: no item takes a second line.
  const heights = await items.locator('span').evaluateAll((all) => all.map((it) => it.clientHeight))
  expect(new Set(heights).size).toBe(1)
})

test('the link and the text of a post are copied or shared, and a toast shows if the browser refuses', async ({
  journey,
  petr,
}) => {
  const { id } = await journey.publish(petr, 'Передай другому')
  const page = await journey.visit({
    permissions: ['clipboard-read', 'clipboard-write'],
    before: (it) => it.addInitScript(recordShared),
  })
  const address = `${journey.url}/posts/${id}`
  await chooseFromMenu(postWith(page, 'Передай другому'), 'Скопировать ссылку')
  await toast(page, 'Ссылка скопирована').waitFor()
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(address)
  await chooseFromMenu(postWith(page, 'Передай другому'), 'Скопировать текст')
  await toast(page, 'Текст скопирован').waitFor()
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe('Передай другому')
  await chooseFromMenu(postWith(page, 'Передай другому'), 'Поделиться')
  await expect
    .poll(() => page.evaluate(() => Reflect.get(window, 'shared')))
    .toEqual({ url: address })

  await page.evaluate(refuseToCopy)
  await chooseFromMenu(postWith(page, 'Передай другому'), 'Скопировать ссылку')
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
    await beneath.waitFor()
    const press = async (post: Locator) => {
      const box = await post.boundingBox()
      if (!box) throw new Error('The post is nowhere')
      const [x, y] = [box.x + 30, box.y + box.height - 20]
      await (hasTouch ? page.touchscreen.tap(x, y) : page.mouse.click(x, y))
    }
    const openings: Record<string, () => Promise<unknown>> = {
      menu: () => openMenu(beneath),
      listbox: () => page.getByRole('button', { name: 'Новые' }).click(),
      dialog: () => chooseFromMenu(beneath, 'Удалить'),
    }
    for (const [role, open] of Object.entries(openings)) {
      await open()
      const inFront = page.getByRole(role as 'menu' | 'listbox' | 'dialog')
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

test('a report needs a reason', async ({ journey, olga, petr }) => {
  const post = await journey.publish(petr, 'Купите слона')
  const page = await journey.visit({ as: olga })
  const menu = await openMenu(postWith(page, 'Купите слона'))
  await menu.getByRole('menuitem', { name: 'Пожаловаться' }).click()
  const dialog = page.getByRole('dialog', { name: 'Пожаловаться' })
  const send = dialog.getByRole('button', { name: 'Отправить', exact: true })
  await send.waitFor()
  expect(await dialog.getByRole('radio').count()).toBe(8)
  expect(await send.isDisabled()).toBe(true)
  await dialog.getByRole('radio', { name: 'Спам или реклама' }).check()
  await send.click()
  await toast(page, 'Жалоба отправлена').waitFor()
  await dialog.waitFor({ state: 'detached' })
  const { rows } = await journey.sql.query(
    'SELECT r.name FROM reports JOIN report_reasons r ON r.id = reason_id WHERE post_id = $1',
    [post.id],
  )
  expect(rows).toEqual([{ name: 'Спам или реклама' }])
})

async function boxOf(element: Locator) {
  const { x, y, width, height } = (await element.boundingBox()) ?? {}
  if (x === undefined || y === undefined) throw new Error('The element is nowhere')
  return { left: x, top: y, right: x + (width ?? 0), bottom: y + (height ?? 0) }
}

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
