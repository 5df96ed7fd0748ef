import { expect } from 'vitest'
import { desktopTest as test } from './testing/journey.ts'
import {
  chooseFromMenu,
  openTab,
  postWith,
  startPost,
  textField,
  toast,
  typeRussian,
} from './testing/page-actions.ts'
import { enterCode, profileLink, sendNewEmail, signInButton } from './testing/sign-in-actions.ts'

test('two tabs write at once: each keeps its own text through closing, a reload and the other’s publication', async ({
  journey,
}) => {
  const author = await journey.signUp()
  const first = await journey.visit({ as: author })
  const second = await openTab(first)
  const [one, other] = [await startPost(first), await startPost(second)]
  await textField(one).fill('Первая вкладка')
  await textField(other).fill('Вторая вкладка')
  await first.reload()
  await one.waitFor()
  expect(await textField(one).inputValue()).toBe('Первая вкладка')

  await other.getByRole('button', { name: 'Опубликовать' }).click()
  await toast(second, 'Опубликовано').waitFor()
  await second.close()
  await first.close()
  const last = await openTab(first)
  await startPost(last)
  expect(await textField(last.getByRole('dialog')).inputValue()).toBe('Первая вкладка')
})

test('a text that is being written stays when another tab stores something or clears all data of the site', async ({
  journey,
}) => {
  const author = await journey.signUp()
  await journey.publish(author, 'Два слова')
  const page = await journey.visit({ as: author })
  const other = await openTab(page)
  await chooseFromMenu(postWith(page, 'Два слова'), 'Изменить')
  const edit = page.getByRole('dialog', { name: 'Изменение записи' })
  // Not a change that would be sent.
  await textField(edit).fill('Два\tслова')
  await page.evaluate(() => {
    Reflect.set(window, 'heard', new Promise((done) => addEventListener('storage', done)))
  })
  await other.evaluate(() => localStorage.setItem('theme', 'light'))
  await page.evaluate(() => Reflect.get(window, 'heard').then(() => undefined))
  await page.evaluate(() => new Promise(requestAnimationFrame))
  expect(await textField(edit).inputValue()).toBe('Два\tслова')
  await page.keyboard.press('Escape')
  await edit.waitFor({ state: 'detached' })

  const dialog = await startPost(page)
  await textField(dialog).fill('Длинная запись')
  await other.evaluate(() => localStorage.clear())
  const stored = () => other.evaluate(() => Object.values(localStorage).join())
  await expect.poll(stored).toContain('Длинная запись')
  expect(await textField(dialog).inputValue()).toBe('Длинная запись')
})

test('a draft that the browser has no room for lasts until the page is closed, and a toast states that', async ({
  journey,
}) => {
  const page = await journey.visit({ as: await journey.signUp() })
  await profileLink(page).waitFor()
  await page.evaluate(() => {
    for (let size = 2 ** 22; size >= 1; size /= 2) {
      try {
        for (let n = 0; ; n++) localStorage.setItem(`full ${size} ${n}`, 'x'.repeat(size))
      } catch {}
    }
  })
  const dialog = await startPost(page)
  await textField(dialog).fill('Некуда положить')
  await page.keyboard.press('Escape')
  await dialog.waitFor({ state: 'detached' })
  await toast(
    page,
    'Браузеру негде сохранить черновик. Он здесь, пока открыта эта страница',
  ).waitFor()
  await startPost(page)
  expect(await textField(dialog).inputValue()).toBe('Некуда положить')
})

test('the composer names a newly registered author in place of the greeting, and another name can be chosen without losing the text', async ({
  journey,
}) => {
  const page = await journey.visit()
  await signInButton(page).click()
  await sendNewEmail(page, 'nina@example.org')
  await enterCode(page, await journey.nextCode('nina@example.org'))
  const greeting = page.getByRole('status').getByText(/^Теперь вы user_/)
  // While the pointer is on it, it stays.
  await greeting.hover()
  await typeRussian(page, 'т')
  const dialog = page.getByRole('dialog', { name: 'Новая запись' })
  await dialog.getByText(/Пишете как user_[0-9a-z]{7} · сменить/).waitFor()
  expect(await greeting.count()).toBe(0)
  await textField(dialog).fill('Пока без имени')
  await dialog.getByRole('link', { name: 'сменить' }).click()
  await page.waitForURL('**/settings/account/username')
  await dialog.waitFor({ state: 'detached' })
  const name = page.getByRole('main').getByLabel('Имя пользователя')
  await expect.poll(() => name.evaluate(isSelected)).toBe(true)
  await page.keyboard.type('nina_pishet')
  await page.getByRole('button', { name: 'Сохранить' }).click()
  await page.getByRole('link', { name: 'Профиль nina_pishet' }).waitFor()
  await startPost(page)
  expect(await textField(dialog).inputValue()).toBe('Пока без имени')
  expect(await dialog.getByText('Пишете как').count()).toBe(0)
})

function isSelected(field: HTMLElement | SVGElement): boolean {
  const { selectionStart, selectionEnd, value } = field as HTMLInputElement
  return document.activeElement === field && selectionStart === 0 && selectionEnd === value.length
}
