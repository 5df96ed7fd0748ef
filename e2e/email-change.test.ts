import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import { desktopTest as test } from './testing/journey.ts'
import { countRequests, toast } from './testing/page-actions.ts'
import { otherThan } from './testing/sign-in-actions.ts'

const WRONG = 'Неверный код'
const TAKEN = 'Эта почта уже используется'

test('an address changes in two steps; the old one gets a notice, and the new one signs in', async ({
  journey,
}) => {
  const user = await journey.signUp()
  const page = await journey.visit({ as: user, path: '/settings' })
  await page.getByRole('link', { name: `Электронная почта ${user.email}` }).click()
  const { field, error, proceed, code } = emailForm(page)
  expect(await proceed.isDisabled()).toBe(true)
  await field.fill('moved@example.org')
  await field.press('Enter')
  await page.getByText('Отправили код на moved@example.org').waitFor()
  const mail = await journey.mailbox.mailTo('moved@example.org')
  expect(mail.subject).toMatch(/^\d{6} — код для смены почты · Вслух$/)
  await page.reload()
  await page.getByText('Отправили код на moved@example.org').waitFor()
  const verifications = countRequests(page, 'PUT', /\/verify$/)
  const mailed = await journey.nextCode('moved@example.org')
  await code.fill(otherThan(mailed))
  await expect.poll(() => error.textContent()).toBe(`${WRONG}. Осталось 4 попытки`)
  await code.fill(mailed)

  await page.waitForURL(`${journey.url}/settings`)
  await toast(page, 'Почта изменена').waitFor()
  await page.getByRole('link', { name: 'Электронная почта moved@example.org' }).waitFor()
  expect(verifications()).toBe(2)
  await page.getByRole('button', { name: 'Назад' }).click()
  await page.waitForURL(`${journey.url}/`)
  const notice = await journey.mailbox.mailAbout(user.email, /Почта аккаунта изменена/)
  expect(notice.text).toContain(user.username)
  expect(notice.text).not.toContain('moved@example.org')
  expect((await journey.signIn('moved@example.org')).id).toBe(user.id)
})

test('a malformed, own or taken address is refused under the input, and the button stays disabled meanwhile; a punycode domain is shown in letters', async ({
  journey,
}) => {
  const neighbour = await journey.signUp()
  const user = await journey.signIn('anna@xn--e1afmkfd.xn--p1ai')
  const page = await journey.visit({ as: user, path: '/settings' })
  await page.getByRole('link', { name: 'Электронная почта anna@пример.рф' }).click()
  const { field, error, proceed } = emailForm(page)
  await field.fill('sasha@')
  await field.press('Enter')
  await expect.poll(() => error.textContent()).toBe('Введите корректный email')
  expect(await proceed.isDisabled()).toBe(true)
  await field.fill('ANNA@пример.рф')
  await expect.poll(() => error.textContent()).toBe('Это ваша нынешняя почта')
  expect(await proceed.isDisabled()).toBe(true)

  await field.fill(neighbour.email.toUpperCase())
  await error.waitFor({ state: 'detached' })
  await proceed.click()
  await expect.poll(() => error.textContent()).toBe(TAKEN)
  expect(await proceed.isDisabled()).toBe(true)
  await field.fill('olga@xn--e1afmkfd.xn--p1ai')
  await error.waitFor({ state: 'detached' })
  await proceed.click()
  await page.getByText('Отправили код на olga@пример.рф').waitFor()
})

function emailForm(page: Page) {
  const main = page.getByRole('main')
  return {
    field: main.getByLabel('Электронная почта'),
    code: main.getByLabel('Код подтверждения'),
    error: main.getByRole('alert'),
    proceed: main.getByRole('button', { name: 'Продолжить' }),
  }
}
