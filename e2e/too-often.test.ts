import { afterAll, beforeAll, expect, test } from 'vitest'
import { signInButton, signInDialog } from './testing/sign-in-dialog.ts'
import { openSite, type Site } from './testing/site.ts'

const WAIT = /^Слишком часто\. Повторите через (\d+ с|1 минуту)$/

let site: Site
beforeAll(async () => {
  site = await openSite({ RATE_LIMIT_SCALE: '1' })
})
afterAll(() => site?.close())

test('a second code for an address within a minute: the dialog says how long to wait', async () => {
  const { email } = await site.signUp()
  const page = await site.visit()
  const { email: address, error, proceed } = signInDialog(page)
  await signInButton(page).click()
  await address.fill(email)
  await proceed.click()
  await expect.poll(() => error.textContent()).toMatch(WAIT)
  expect(await address.inputValue()).toBe(email)
})

test('a sixth post in a row: the dialog keeps the text and says how long to wait', async () => {
  const user = await site.signUp()
  const page = await site.visit({ as: user })
  await page.getByRole('button', { name: 'Новая запись' }).click()
  const dialog = page.getByRole('dialog', { name: 'Новая запись' })
  const field = dialog.getByLabel('Текст записи')
  await field.fill('Шестая.')
  for (let number = 1; number <= 5; number++) await site.publish(user, `Запись ${number}.`)
  await dialog.getByRole('button', { name: 'Опубликовать' }).click()
  await expect.poll(() => dialog.getByRole('alert').textContent()).toMatch(WAIT)
  expect(await field.inputValue()).toBe('Шестая.')
})
