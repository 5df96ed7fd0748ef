import type { Locator, Page } from 'playwright-core'
import { expect } from 'vitest'
import { desktopTest as test } from './testing/journey.ts'
import {
  holdCalls,
  postWith,
  startPost,
  submitPost,
  textField,
  toast,
} from './testing/page-actions.ts'
import { endSessions, profileLink, signInThrough } from './testing/sign-in-actions.ts'

const PUBLICATION = '**/api/v1/posts'

test('characters over 500 are tinted, also after scrolling', async ({ journey, olga }) => {
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
  await postWith(page, 'Первая из двух').waitFor()
  expect(await textField(dialog).inputValue()).toBe('Вторая из двух')
})

test('when the session ends while a user writes, the text waits in its dialog, even over a page for users, and is published after signing in from it', async ({
  journey,
}) => {
  const vera = await journey.signUp()
  const page = await journey.visit({ as: vera, path: '/own/posts' })
  const dialog = await startPost(page)
  await textField(dialog).fill('Важная мысль')
  await endSessions(journey, vera)
  await page.keyboard.press('Control+Enter')
  await dialog.getByText('Сессия завершена. Отправим, когда вы войдёте').waitFor()
  await profileLink(page).waitFor({ state: 'detached' })
  await dialog.getByRole('button', { name: 'Войти' }).click()

  await signInThrough(journey, page, vera.email)
  await postWith(page, 'Важная мысль').waitFor()
})

/** Sends a new post, holds back the request, and closes the dialog meanwhile. */
async function sendAndClose(page: Page, typed: string) {
  const held = await holdCalls(page, PUBLICATION)
  const dialog = await submitPost(page, typed)
  await held.asked
  const send = dialog.getByRole('button', { name: 'Опубликовать' })
  await expect.poll(() => send.getAttribute('aria-busy')).toBe('true')
  await page.keyboard.press('Escape')
  await dialog.waitFor({ state: 'detached' })
  return held
}
