import type { Page } from 'playwright-core'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import type { TestUser } from '../server/testing/client.ts'
import { DESKTOP, type Journey, startJourney } from './testing/journey.ts'
import { postTexts, postWith, typeRussian } from './testing/page-actions.ts'

let journey: Journey
let olga: TestUser
let petr: TestUser
beforeAll(async () => {
  journey = await startJourney()
  olga = await journey.signUp()
  petr = await journey.signUp()
})
afterAll(() => journey?.close())
beforeEach(() => journey.emptyWall())

test('everything can be done without a mouse', async () => {
  await journey.publish(olga, 'Нижняя запись')
  await journey.publish(olga, 'Верхняя запись')
  const page = await journey.visit({ as: petr, viewport: DESKTOP })
  await postWith(page, 'Верхняя запись').waitFor()

  await page.keyboard.press('Tab')
  await expect.poll(() => focused(page)).toBe('К содержанию')
  await page.keyboard.press('Enter')
  expect(await page.evaluate(() => document.activeElement?.id)).toBe('content')
  await page.keyboard.press('Tab')
  await expect.poll(() => focusedPost(page)).toBe('Верхняя запись')

  // New post: written, published, and the focus back where it was.
  await typeRussian(page, 'т')
  await dialogOf(page, 'Новая запись')
  await expect.poll(() => focused(page)).toBe('Текст записи')
  await page.keyboard.insertText('Написано без мыши')
  await expectTrap(page)
  await tabTo(page, 'Текст записи')
  await page.keyboard.press('Control+Enter')
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  await postWith(page, 'Написано без мыши').waitFor()
  await expect.poll(() => focusedPost(page)).toBe('Верхняя запись')

  // Like, reply, open.
  await typeRussian(page, 'д')
  const like = postWith(page, 'Верхняя запись').getByRole('button', { name: 'Нравится' })
  await expect.poll(() => like.getAttribute('aria-pressed')).toBe('true')
  await typeRussian(page, 'к')
  await dialogOf(page, 'Ответ')
  await page.keyboard.insertText('Ответ без мыши')
  await page.keyboard.press('Tab')
  await expect.poll(() => focused(page)).toBe('Опубликовать')
  await page.keyboard.press('Enter')
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  await expect.poll(() => focusedPost(page)).toBe('Верхняя запись')
  await page.keyboard.press('Enter')
  await page.waitForURL('**/posts/*')
  await postWith(page, 'Ответ без мыши').waitFor()
  await tabTo(page, 'Назад', 'Shift+Tab')
  await page.keyboard.press('Enter')
  await page.waitForURL(`${journey.url}/`)
  await expect.poll(() => focusedPost(page)).toBe('Верхняя запись')

  // Own post: changed and deleted by its menu.
  await typeRussian(page, 'л')
  await expect.poll(() => focusedPost(page)).toBe('Написано без мыши')
  await tabTo(page, 'Ещё')
  await page.keyboard.press('Enter')
  await page.getByRole('menu').waitFor()
  await expect.poll(() => focused(page)).toContain('Изменить')
  await page.keyboard.press('Enter')
  await dialogOf(page, 'Изменение записи')
  await page.keyboard.insertText(', и изменено так же')
  await page.keyboard.press('Control+Enter')
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  await postWith(page, 'Написано без мыши, и изменено так же').waitFor()
  await expect.poll(() => focused(page)).toBe('Ещё')
  await page.keyboard.press('ArrowDown')
  await page.getByRole('menu').waitFor()
  await page.keyboard.press('End')
  await page.keyboard.press('Enter')
  await dialogOf(page, 'Удалить запись?')
  await expectTrap(page)
  await tabTo(page, 'Удалить')
  await page.keyboard.press('Enter')
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  await expect.poll(() => postTexts(page)).toEqual(['Верхняя запись', 'Нижняя запись'])

  // Another view by the switcher, and the theme.
  await page.getByRole('button', { name: 'Новые' }).focus()
  await page.keyboard.press('Enter')
  await page.getByRole('listbox').waitFor()
  await page.keyboard.press('Enter')
  await page.waitForURL('**/liked')
  await expect.poll(() => postTexts(page)).toEqual(['Верхняя запись'])
})

test('j and k step through the posts, Page Up and Page Down too, on any layout', async () => {
  await journey.fillWall(olga, 25)
  const page = await journey.visit({ viewport: DESKTOP })
  await postWith(page, 'Запись 25').waitFor()
  for (const post of [25, 24, 23]) {
    await page.keyboard.press('j')
    await expect.poll(() => focusedPost(page)).toBe(`Запись ${post}`)
  }
  await page.keyboard.press('k')
  await expect.poll(() => focusedPost(page)).toBe('Запись 24')
  await typeRussian(page, 'оол')
  await expect.poll(() => focusedPost(page)).toBe('Запись 23')
  await page.keyboard.press('PageDown')
  await expect.poll(() => focusedPost(page)).toBe('Запись 22')
  await page.keyboard.press('PageUp')
  await page.keyboard.press('PageUp')
  await expect.poll(() => focusedPost(page)).toBe('Запись 24')

  // Stepping down loads further posts by itself, and the focused post is in view.
  for (let post = 23; post >= 1; post--) {
    await expect
      .poll(async () => {
        if ((await focusedPost(page)) !== `Запись ${post}`) await page.keyboard.press('j')
        return focusedPost(page)
      })
      .toEqual(`Запись ${post}`)
  }
  const { top, bottom } = await page.evaluate(() => {
    const box = document.activeElement?.getBoundingClientRect()
    return { top: box?.top ?? 0, bottom: box?.bottom ?? 0 }
  })
  expect(top).toBeGreaterThan(40)
  expect(bottom).toBeLessThanOrEqual(DESKTOP.height)
})

test('«?» shows the shortcuts, and while one types or a dialog is open they do nothing', async () => {
  await journey.publish(olga, 'Единственная запись')
  const page = await journey.visit({ as: petr, viewport: DESKTOP })
  await postWith(page, 'Единственная запись').waitFor()
  await page.keyboard.press('j')
  await page.keyboard.press('n')
  const form = await dialogOf(page, 'Новая запись')
  const text = form.getByRole('textbox')
  await expect.poll(() => focused(page)).toBe('Текст записи')
  await page.keyboard.type('jklnr?')
  await page.keyboard.press('Control+J')
  expect(await text.inputValue()).toBe('jklnr?')
  await expect.poll(() => focused(page)).toBe('Текст записи')
  await page.keyboard.press('Escape')
  await form.waitFor({ state: 'detached' })

  // By now the chunk of the other dialog is loaded: it would open at once.
  await page.keyboard.press('Shift+Slash')
  const help = await dialogOf(page, 'Сочетания клавиш')
  expect(await help.getByRole('term').allInnerTexts()).toContain('Следующая запись')
  await page.keyboard.press('n')
  await page.keyboard.press('l')
  await page.evaluate(() => new Promise(requestAnimationFrame))
  expect(await help.isVisible()).toBe(true)
  await page.keyboard.press('Escape')
  await help.waitFor({ state: 'detached' })
  await expect.poll(() => focusedPost(page)).toBe('Единственная запись')
  const likes = postWith(page, 'Единственная запись').getByRole('button', { name: 'Нравится' })
  expect(await likes.getAttribute('aria-pressed')).toBe('false')
})

test('l and r act on the post that a page is about until another has the focus', async () => {
  const root = await journey.publish(olga, 'О чём страница')
  await journey.reply(olga, root.id, 'Ответ под ней')
  const page = await journey.visit({ as: petr, path: `/posts/${root.id}`, viewport: DESKTOP })
  const likes = (text: string) =>
    postWith(page, text).getByRole('button', { name: 'Нравится' }).getAttribute('aria-pressed')
  await postWith(page, 'Ответ под ней').waitFor()
  await page.keyboard.press('l')
  await expect.poll(() => likes('О чём страница')).toBe('true')
  expect(await likes('Ответ под ней')).toBe('false')
  await page.keyboard.press('r')
  const dialog = await dialogOf(page, 'Ответ')
  await dialog.getByText('О чём страница').waitFor()
  await page.keyboard.press('Escape')
  await dialog.waitFor({ state: 'detached' })

  await postWith(page, 'Ответ под ней').focus()
  await page.keyboard.press('l')
  await expect.poll(() => likes('Ответ под ней')).toBe('true')
  expect(await likes('О чём страница')).toBe('true')
})

test('n and «?» work on pages without a post too', async () => {
  const page = await journey.visit({ as: petr, path: '/settings', viewport: DESKTOP })
  for (const [path, text] of [
    ['/settings', 'Выйти'],
    ['/posts/999999', 'Запись не найдена'],
    ['/nowhere', 'Страница не существует'],
  ] as const) {
    await page.goto(journey.url + path)
    await page.getByText(text).first().waitFor()
    for (const [key, title] of [
      ['n', 'Новая запись'],
      ['Shift+Slash', 'Сочетания клавиш'],
    ] as const) {
      await page.keyboard.press(key)
      const dialog = await dialogOf(page, title)
      await page.keyboard.press('Escape')
      await dialog.waitFor({ state: 'detached' })
    }
  }
})

async function dialogOf(page: Page, name: string) {
  const dialog = page.getByRole('dialog', { name })
  await dialog.waitFor()
  await expect.poll(() => dialog.evaluate((it) => it.contains(document.activeElement))).toBe(true)
  return dialog
}

/** Checks that Tab and Shift+Tab never leave the open dialog for the page behind it. */
async function expectTrap(page: Page): Promise<void> {
  for (const key of ['Tab', 'Tab', 'Tab', 'Tab', 'Tab', 'Shift+Tab', 'Shift+Tab']) {
    await page.keyboard.press(key)
    const where = await page.evaluate(() => {
      const { activeElement, body } = document
      return activeElement === body || activeElement?.closest('dialog') ? 'inside' : 'outside'
    })
    expect(where).toBe('inside')
  }
}

async function tabTo(page: Page, name: string, key = 'Tab'): Promise<void> {
  for (let step = 0; step < 12; step++) {
    if ((await focused(page)) === name) return
    await page.keyboard.press(key)
  }
  throw new Error(`Tab never came to «${name}», but to «${await focused(page)}»`)
}

/** The accessible name of the focused element. */
function focused(page: Page): Promise<string> {
  return page.evaluate(() => {
    const element = document.activeElement as HTMLElement | null
    return element?.getAttribute('aria-label') ?? element?.innerText ?? ''
  })
}

/** The text of the focused post. */
function focusedPost(page: Page): Promise<string | undefined> {
  return page.evaluate(() => {
    const text = document.activeElement?.querySelector<HTMLElement>(
      ':scope[data-post-id] [id$="-text"]',
    )
    return text?.innerText
  })
}
