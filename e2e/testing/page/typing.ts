import type { Locator, Page } from 'playwright-core'
import { expect } from 'vitest'

/** Empties a field and types a text into it, key by key. */
export async function typeInto(field: Locator, text: string): Promise<void> {
  await empty(field)
  await field.pressSequentially(text)
}

/**
 * Types a text as people do: one character twice, which Backspace mends, and one too few, which is
 * added in the middle. The field must always show exactly what was typed.
 */
export async function typeWithSlips(field: Locator, text: string): Promise<void> {
  const characters = [...text]
  const middle = Math.floor(characters.length / 2)
  const leftOut = characters[middle] ?? ''
  const start = characters.slice(0, middle).join('')
  const end = characters.slice(middle + 1).join('')
  await empty(field)
  await field.pressSequentially(start + start.slice(-1))
  expect(await field.inputValue()).toBe(start + start.slice(-1))
  await field.press('Backspace')
  expect(await field.inputValue()).toBe(start)
  await field.pressSequentially(end)
  expect(await field.inputValue()).toBe(start + end)
  for (const _ of end) await field.page().keyboard.press('ArrowLeft')
  await field.pressSequentially(leftOut)
  expect(await field.inputValue()).toBe(text)
}

async function empty(field: Locator): Promise<void> {
  await field.press('ControlOrMeta+A')
  await field.press('Delete')
  expect(await field.inputValue()).toBe('')
}

/** Copies a text from another tab, which needs no secure context. */
export async function copy(page: Page, text: string): Promise<void> {
  const other = await page.context().newPage()
  await other.setContent('<textarea></textarea>')
  await other.getByRole('textbox').fill(text)
  await other.getByRole('textbox').selectText()
  await other.keyboard.press('ControlOrMeta+C')
  await other.close()
}
