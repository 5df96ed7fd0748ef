import type { Locator, Page } from 'playwright-core'
import { tap, write } from '../hands.ts'
import { profileLink } from '../sign-in-actions.ts'

export async function startPost(page: Page): Promise<Locator> {
  await profileLink(page).waitFor()
  // An empty list of the viewer's own has such a button too.
  await tap(page.getByRole('button', { name: 'Новая запись' }).first())
  const dialog = page.getByRole('dialog', { name: 'Новая запись', exact: true })
  await dialog.waitFor()
  return dialog
}

/** Submits a new post by the keyboard. Returns its dialog, which closes once it is sent. */
export async function submitPost(page: Page, text: string): Promise<Locator> {
  const dialog = await startPost(page)
  await write(textField(dialog), text)
  await page.keyboard.press('Control+Enter')
  return dialog
}

export function textField(dialog: Locator): Locator {
  return dialog.getByRole('textbox', { name: /^Текст (записи|ответа)$/ })
}

/** Returns the texts that are drafts, wait or were refused, sorted. */
export function storedTexts(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const entries = Object.entries(localStorage).filter(([key]) => /^text /.test(key))
    return entries.map(([, value]) => JSON.parse(value).text).sort()
  })
}
