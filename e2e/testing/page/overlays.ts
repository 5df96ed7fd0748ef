import type { Locator, Page } from 'playwright-core'
import { expect } from 'vitest'

/** Waits until a dialog that opens has stopped moving. */
export async function untilStill(dialog: Locator): Promise<void> {
  await dialog.evaluate((it) => Promise.allSettled(it.getAnimations().map((one) => one.finished)))
}

/** Closes a dialog or a menu by the Escape key. */
export async function closeByKey(dialog: Locator): Promise<void> {
  await dialog.page().keyboard.press('Escape')
  await dialog.waitFor({ state: 'detached' })
}

export function toast(page: Page, text: string): Locator {
  return page.getByRole('status').getByText(text, { exact: true })
}

/** Waits until the dialog has the focus. */
export async function dialogOf(page: Page, name: string) {
  const dialog = page.getByRole('dialog', { name, exact: true })
  await dialog.waitFor()
  await expect.poll(() => dialog.evaluate((it) => it.contains(document.activeElement))).toBe(true)
  return dialog
}
