import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import { clear, tap, write } from './testing/hands.ts'
import { desktopTest as test } from './testing/journey.ts'
import { startPost, storedTexts, submitPost, textField } from './testing/page/compose.ts'
import { boxOf } from './testing/page/layout.ts'
import { closeByKey, dialogOf, toast, untilStill } from './testing/page/overlays.ts'
import { openTab, typeRussian } from './testing/page/tab.ts'
import { enterCode, profileLink, sendNewEmail, signInButton } from './testing/sign-in-actions.ts'

test('a toast states that the browser has no room for a draft', async ({ journey, olga }) => {
  const page = await journey.visit({ as: olga })
  await profileLink(page).waitFor()
  await fillStorage(page)
  const dialog = await startPost(page)
  await write(textField(dialog), 'Некуда положить')
  // A resize moves the toast from under the pointer.
  await page.setViewportSize({ width: 360, height: 540 })
  await closeByKey(dialog)
  const full = 'Браузеру негде сохранить черновик. Он здесь, пока открыта эта страница'
  // While the pointer is on it, it stays: above a sheet that fills a small phone.
  await toast(page, full).hover()
  await page.keyboard.press('?')
  const sheet = await dialogOf(page, 'Сочетания клавиш')
  await untilStill(sheet)
  const { top } = await boxOf(sheet.getByRole('heading'))
  expect((await boxOf(sheet.getByRole('status').locator('div'))).bottom).toBeLessThan(top)
  await closeByKey(sheet)
  await startPost(page)
  expect(await textField(dialog).inputValue()).toBe('Некуда положить')
})

test('a text that waits is not called saved if the browser has no room for it', async ({
  journey,
  olga,
}) => {
  const page = await journey.visit({ as: olga })
  await profileLink(page).waitFor()
  await fillStorage(page)
  await page.route('**/api/v1/posts', (route) => route.abort())
  const dialog = await submitPost(page, 'Некуда положить')
  await dialog
    .getByText(/^Сервер не отвечает\. Отправим сами\. Браузеру негде сохранить текст/)
    .waitFor()
  expect(await storedTexts(page)).toEqual([])
  await closeByKey(dialog)
  const row = page.getByText(/^1 запись ждёт связи\. Браузеру негде сохранить текст/)
  await row.waitFor()
  await page.unroute('**/api/v1/posts')
  await toast(page, 'Опубликовано').waitFor()
  await row.waitFor({ state: 'detached' })
})

test('each tab marks that there is a draft, and that it is gone', async ({ journey, olga }) => {
  const page = await journey.visit({ as: olga })
  const other = await openTab(page)
  const mark = other.getByText('есть черновик')
  await profileLink(other).waitFor()
  await page.bringToFront()
  const dialog = await startPost(page)
  await write(textField(dialog), 'Черновик')
  await mark.first().waitFor({ state: 'attached' })
  await clear(textField(dialog))
  await expect.poll(() => mark.count()).toBe(0)
})

test('a new author may choose a name without losing the text', async ({ journey }) => {
  const page = await journey.visit()
  await tap(signInButton(page))
  await sendNewEmail(page, 'nina@example.org')
  await enterCode(page, await journey.nextCode('nina@example.org'))
  const greeting = page.getByRole('status').getByText(/^Теперь вы user_/)
  // While the pointer is on it, it stays.
  await greeting.hover()
  await typeRussian(page, 'т')
  const dialog = page.getByRole('dialog', { name: 'Новая запись' })
  await dialog.getByText(/Пишете как user_[0-9a-z]{7} · сменить/).waitFor()
  expect(await greeting.count()).toBe(0)
  await write(textField(dialog), 'Пока без имени')
  await tap(dialog.getByRole('link', { name: 'сменить' }))
  await page.waitForURL('**/settings/account/username')
  await dialog.waitFor({ state: 'detached' })
  await expect.poll(() => page.evaluate(() => String(getSelection()))).toMatch(/^user_/)
  await page.keyboard.type('nina_pishet')
  await tap(page.getByRole('button', { name: 'Сохранить' }))
  await page.getByRole('link', { name: 'Профиль nina_pishet' }).waitFor()
  await startPost(page)
  expect(await textField(dialog).inputValue()).toBe('Пока без имени')
  expect(await dialog.getByText('Пишете как').count()).toBe(0)
})

function fillStorage(page: Page): Promise<void> {
  return page.evaluate(() => {
    for (let size = 2 ** 22; size >= 1; size /= 2) {
      try {
        for (let n = 0; ; n++) localStorage.setItem(`full ${size} ${n}`, 'x'.repeat(size))
      } catch {}
    }
  })
}
