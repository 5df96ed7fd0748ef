import { expect } from 'vitest'
import { DESKTOP, test } from './testing/journey.ts'
import { focusedPost, like, postWith } from './testing/page/feed.ts'
import { boxOf } from './testing/page/layout.ts'
import { closeByKey, dialogOf } from './testing/page/overlays.ts'
import { whenScriptsRun } from './testing/when-scripts-run.ts'

test('j, k, Page Up and Page Down step through posts', async ({ journey, olga }) => {
  await journey.fillWall(olga, 15)
  const page = await journey.visit({ viewport: DESKTOP })
  await postWith(page, 'Запись 15').waitFor()
  for (const [key, post] of [
    ['j', 15],
    ['j', 14],
    ['k', 15],
    ['PageDown', 14],
    ['PageUp', 15],
  ] as const) {
    await page.keyboard.press(key)
    await expect.poll(() => focusedPost(page)).toBe(`Запись ${post}`)
  }

  // Stepping down loads more posts, and the focused post is visible.
  for (let post = 14; post >= 1; post--) {
    await expect
      .poll(async () => {
        if ((await focusedPost(page)) !== `Запись ${post}`) await page.keyboard.press('j')
        return focusedPost(page)
      })
      .toEqual(`Запись ${post}`)
  }
  const { top, bottom } = await boxOf(page.locator('article:focus'))
  expect(top).toBeGreaterThan(40)
  expect(bottom).toBeLessThanOrEqual(DESKTOP.height)
})

test('«?» shows the shortcuts, and a field ignores them', async ({ journey, olga, petr }) => {
  await journey.publish(olga, 'Единственная запись')
  const page = await journey.visit({ as: petr, viewport: DESKTOP })
  await postWith(page, 'Единственная запись').waitFor()
  await page.keyboard.press('j')
  await page.keyboard.press('n')
  const form = await dialogOf(page, 'Новая запись')
  const text = form.locator('textarea:focus')
  await text.waitFor()
  await page.keyboard.type('jklnr?')
  await page.keyboard.press('Control+J')
  expect(await text.inputValue()).toBe('jklnr?')
  await closeByKey(form)

  // The chunk of the other dialog is loaded by now, so it would open at once.
  await page.keyboard.press('Shift+Slash')
  const help = await dialogOf(page, 'Сочетания клавиш')
  expect(await help.getByRole('term').allInnerTexts()).toContain('Следующая запись')
  await page.keyboard.press('n')
  await page.keyboard.press('l')
  await page.evaluate(() => new Promise(requestAnimationFrame))
  expect(await help.isVisible()).toBe(true)
  await closeByKey(help)
  await expect.poll(() => focusedPost(page)).toBe('Единственная запись')
  const heart = like(postWith(page, 'Единственная запись'))
  expect(await heart.getAttribute('aria-pressed')).toBe('false')

  const letters = help.getByRole('checkbox', { name: 'Буквенные клавиши включены' })
  await page.keyboard.press('Shift+Slash')
  await letters.uncheck()
  await closeByKey(help)
  await page.reload()
  await whenScriptsRun(page)
  for (const key of ['j', 'n', 'PageDown', 'Shift+Slash']) await page.keyboard.press(key)
  await letters.check()
  await closeByKey(help)
  expect(await focusedPost(page)).toBeUndefined()
  await page.keyboard.press('j')
  await expect.poll(() => focusedPost(page)).toBe('Единственная запись')

  // They work on pages without posts too.
  await page.goto(`${journey.url}/settings`)
  await page.getByRole('button', { name: 'Сочетания клавиш' }).click()
  await closeByKey(help)
  await page.keyboard.press('n')
  await form.waitFor()
})

test('on a post’s page l and r act on the focused post', async ({ journey, olga, petr }) => {
  const root = await journey.publish(olga, 'О чём страница')
  await journey.reply(olga, root.id, 'Ответ под ней')
  const page = await journey.visit({ as: petr, path: `/posts/${root.id}`, viewport: DESKTOP })
  const likes = (text: string) => like(postWith(page, text)).getAttribute('aria-pressed')
  await postWith(page, 'Ответ под ней').waitFor()
  await page.keyboard.press('l')
  await expect.poll(() => likes('О чём страница')).toBe('true')
  expect(await likes('Ответ под ней')).toBe('false')
  await page.keyboard.press('r')
  const dialog = await dialogOf(page, 'Ответ')
  await dialog.getByText('О чём страница').waitFor()
  await closeByKey(dialog)

  await postWith(page, 'Ответ под ней').focus()
  await page.keyboard.press('l')
  await expect.poll(() => likes('Ответ под ней')).toBe('true')
  expect(await likes('О чём страница')).toBe('true')
})
