import { expect } from 'vitest'
import { tap, write } from './testing/hands.ts'
import { test } from './testing/journey.ts'
import { textField } from './testing/page/compose.ts'
import { postTexts } from './testing/page/feed.ts'
import { toast } from './testing/page/overlays.ts'
import { depth } from './testing/page/tab.ts'
import { enterCode, sendNewEmail } from './testing/sign-in-actions.ts'

test('a visitor reads, registers by the mailed code, publishes, and finds the post after a reload', async ({
  journey,
}) => {
  const page = await journey.visit()
  await page.getByText('Записи не найдены').waitFor()
  expect(await page.title()).toBe('Стена - Вслух')
  await tap(page.getByRole('button', { name: 'Новая запись' }))
  await sendNewEmail(page, 'first@example.org')
  await enterCode(page, await journey.nextCode('first@example.org'))

  const text = 'Сегодня впервые за месяц выключила телефон.'
  const dialog = page.getByRole('dialog', { name: 'Новая запись' })
  await write(textField(dialog), text)
  await tap(dialog.getByRole('button', { name: 'Опубликовать' }))
  await toast(page, 'Опубликовано').waitFor()
  await dialog.waitFor({ state: 'detached' })
  await expect.poll(() => postTexts(page)).toEqual([text])
  // A reload would fail while the dialog's entry is being left.
  await expect.poll(() => depth(page)).toBe(0)
  await page.reload()
  await expect.poll(() => postTexts(page)).toEqual([text])
})
