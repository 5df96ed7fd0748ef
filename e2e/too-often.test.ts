import { afterAll, beforeAll, expect, test } from 'vitest'
import { type JourneyWithMail, startJourneyWithMail } from './testing/journey-with-mail.ts'
import { chooseFromMenu, postWith } from './testing/page-actions.ts'
import { signInButton, signInDialog } from './testing/sign-in-actions.ts'

const WAIT = /^Слишком часто\. Повторите через (\d+ с|1 минуту)$/

let journey: JourneyWithMail
beforeAll(async () => {
  journey = await startJourneyWithMail({ RATE_LIMIT_SCALE: '1' })
})
afterAll(() => journey?.close())

test('a second code for an address within a minute: the dialog says how long to wait', async () => {
  const { email } = await journey.signUp()
  const page = await journey.visit()
  const { email: address, error, proceed } = signInDialog(page)
  await signInButton(page).click()
  await address.fill(email)
  await proceed.click()
  await expect.poll(() => error.textContent()).toMatch(WAIT)
  expect(await address.inputValue()).toBe(email)
})

test('a 31st report in an hour: the dialog still has the reason and says how long to wait', async () => {
  const author = await journey.signUp()
  const user = await journey.signUp()
  const { id } = await journey.publish(author, 'Пожалуйтесь на меня.')
  const page = await journey.visit({ as: user })
  await chooseFromMenu(postWith(page, 'Пожалуйтесь на меня.'), 'Пожаловаться')
  const dialog = page.getByRole('dialog', { name: 'Пожаловаться' })
  const reason = dialog.getByRole('radio', { name: 'Спам или реклама' })
  await reason.check()
  for (let number = 1; number <= 30; number++) {
    await journey.call('POST', `/posts/${id}/reports?reason_id=2`, { token: user.token })
  }
  await dialog.getByRole('button', { name: 'Отправить' }).click()
  const hour = /^Слишком часто\. Повторите через (1 час|\d\d минут[аыу]?)$/
  await expect.poll(() => dialog.getByRole('alert').textContent()).toMatch(hour)
  expect(await reason.isChecked()).toBe(true)
})

test('a fourth name in a day: the form still holds it and a toast says how long to wait', async () => {
  const user = await journey.signUp()
  for (const username of ['first_name', 'second_name', 'third_name']) {
    await journey.call('PATCH', '/users/current/profile', { token: user.token, body: { username } })
  }
  const page = await journey.visit({ as: user, path: '/settings/account/username' })
  const field = page.getByRole('main').getByLabel('Имя пользователя')
  await field.fill('fourth_name')
  await page.getByRole('button', { name: 'Сохранить' }).click()
  await page.getByRole('status').getByText('Слишком часто. Повторите через 24 часа').waitFor()
  expect(await field.inputValue()).toBe('fourth_name')
})

test('a sixth post in a row: the dialog still has the text and says how long to wait', async () => {
  const user = await journey.signUp()
  const page = await journey.visit({ as: user })
  await page.getByRole('button', { name: 'Новая запись' }).click()
  const dialog = page.getByRole('dialog', { name: 'Новая запись' })
  const field = dialog.getByLabel('Текст записи')
  await field.fill('Шестая.')
  for (let number = 1; number <= 5; number++) await journey.publish(user, `Запись ${number}.`)
  await dialog.getByRole('button', { name: 'Опубликовать' }).click()
  await expect.poll(() => dialog.getByRole('alert').textContent()).toMatch(WAIT)
  expect(await field.inputValue()).toBe('Шестая.')
})
