import type { Locator, Page } from 'playwright-core'
import { expect } from 'vitest'
import { desktopTest as test } from './testing/journey.ts'
import {
  chooseFromMenu,
  holdCalls,
  postWith,
  startPost,
  textField,
  toast,
} from './testing/page-actions.ts'
import { endSessions, profileLink, signInThrough } from './testing/sign-in-actions.ts'

const PUBLICATION = '**/api/v1/posts'

test.beforeEach(async ({ journey, olga }) => {
  await journey.publish(olga, 'На что отвечают')
})

test('a dialog that was closed while sending does not affect the next one', async ({
  journey,
  olga,
}) => {
  const page = await journey.visit({ as: olga })
  const held = await sendAndClose(page, 'Долго в пути')
  await postWith(page, 'На что отвечают').getByRole('button', { name: 'Ответить' }).click()
  const reply = page.getByRole('dialog', { name: 'Ответ' })
  await textField(reply).fill('Пока пишу')
  held.letGo()
  await toast(page, 'Опубликовано').waitFor()
  await postWith(page, 'Долго в пути').waitFor()
  expect(await textField(reply).inputValue()).toBe('Пока пишу')
})

test('characters over 500 are tinted in the field, also after scrolling', async ({
  journey,
  olga,
}) => {
  const page = await journey.visit({ as: olga })
  const dialog = await startPost(page)
  const field = textField(dialog)
  const tint = dialog.locator('mark')
  await field.fill('слово '.repeat(82).concat('конец'))
  expect(await tint.count()).toBe(0)
  await field.fill(`${'слово\n'.repeat(83)}а лишнее`)
  expect(await tint.textContent()).toBe('лишнее')
  await field.evaluate((it) => it.scrollTo(0, it.scrollHeight))
  const bottom = (it: Locator) => it.evaluate((shown) => shown.getBoundingClientRect().bottom)
  await expect
    .poll(async () => Math.abs((await bottom(field)) - (await bottom(tint))))
    .toBeLessThan(30)
})

test('while a text is being sent, the next one begins with an empty dialog and is not lost', async ({
  journey,
  olga,
}) => {
  const page = await journey.visit({ as: olga })
  const held = await sendAndClose(page, 'Первая из двух')
  const dialog = await startPost(page)
  expect(await textField(dialog).inputValue()).toBe('')
  await textField(dialog).fill('Вторая из двух')
  held.letGo()
  await toast(page, 'Опубликовано').waitFor()
  expect(await textField(dialog).inputValue()).toBe('Вторая из двух')
  await page.reload()
  await dialog.waitFor()
  expect(await textField(dialog).inputValue()).toBe('Вторая из двух')
})

test.for(['/', '/own/posts'])(
  'when the session ends while a user writes at %s, the text waits in its dialog, and is published after signing in from it',
  async (path, { journey }) => {
    const vera = await journey.signUp()
    const page = await journey.visit({ as: vera, path })
    const dialog = await startPost(page)
    await textField(dialog).fill('Важная мысль')
    await endSessions(journey, vera)
    await page.keyboard.press('Control+Enter')
    await dialog.getByText('Сессия завершена. Отправим, когда вы войдёте').waitFor()
    await profileLink(page).waitFor({ state: 'detached' })
    await dialog.getByRole('button', { name: 'Войти' }).click()

    await signInThrough(journey, page, vera.email)
    await postWith(page, 'Важная мысль').waitFor()
  },
)

test('when the session ends while a user edits a post, the text stays in its dialog, can still be changed, and is saved after signing in', async ({
  journey,
}) => {
  const vera = await journey.signUp()
  await journey.publish(vera, 'Было опечтано')
  const page = await journey.visit({ as: vera })
  await chooseFromMenu(postWith(page, 'Было опечтано'), 'Изменить')
  const dialog = page.getByRole('dialog', { name: 'Изменение записи' })
  await textField(dialog).fill('Было опечатано')
  await endSessions(journey, vera)
  await page.keyboard.press('Control+Enter')
  await dialog.getByText('Сессия завершена. Отправим, когда вы войдёте').waitFor()
  await dialog.getByRole('button', { name: 'Не отправлять' }).click()
  await textField(dialog).fill('Было опечатано дважды')
  await page.keyboard.press('Control+Enter')
  await dialog.getByRole('button', { name: 'Войти' }).click()

  await signInThrough(journey, page, vera.email)
  await postWith(page, 'Было опечатано дважды').waitFor()
})

/** Sends a new post, holds back the request, and closes the dialog meanwhile. */
async function sendAndClose(page: Page, typed: string) {
  const held = await holdCalls(page, PUBLICATION)
  const dialog = await startPost(page)
  await textField(dialog).fill(typed)
  await page.keyboard.press('Control+Enter')
  await held.asked
  const send = dialog.getByRole('button', { name: 'Опубликовать' })
  await expect.poll(() => send.getAttribute('aria-busy')).toBe('true')
  await page.keyboard.press('Escape')
  await dialog.waitFor({ state: 'detached' })
  return held
}
