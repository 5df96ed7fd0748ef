import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import { test } from './testing/journey.ts'

test('a visitor reads, registers by the mailed code, publishes, and finds the post after a reload', async ({
  journey,
}) => {
  const page = await journey.visit()
  await page.getByText('Записи не найдены').waitFor()
  expect(await page.title()).toBe('Стена - Вслух')

  await page.getByRole('button', { name: 'Новая запись' }).click()
  const signIn = page.getByRole('dialog')
  await signIn.getByLabel('Электронная почта').fill('first@example.org')
  await page.keyboard.press('Enter')
  await signIn.getByRole('button', { name: 'Продолжить' }).click()
  await signIn.getByLabel('Код подтверждения').waitFor()
  const reloaded = page.waitForEvent('load')
  await signIn.getByLabel('Код подтверждения').fill(await journey.nextCode('first@example.org'))
  await reloaded

  const dialog = page.getByRole('dialog', { name: 'Новая запись' })
  await dialog.getByLabel('Текст записи').fill('Сегодня впервые за месяц выключила телефон.')
  await dialog.getByRole('button', { name: 'Опубликовать' }).click()
  await page.getByRole('status').getByText('Опубликовано').waitFor()
  await dialog.waitFor({ state: 'detached' })
  await expectFirstPost(page)

  await page.reload()
  await expectFirstPost(page)
})

async function expectFirstPost(page: Page): Promise<void> {
  const first = page.getByRole('article').first()
  await first.getByText('Сегодня впервые за месяц выключила телефон.').waitFor()
}
