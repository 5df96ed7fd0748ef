import { expect } from 'vitest'
import { enterDigits, tap, write } from './testing/hands.ts'
import { desktopTest as test } from './testing/journey.ts'
import { toast } from './testing/page/overlays.ts'
import { otherThan } from './testing/sign-in-actions.ts'

test('a free address replaces the old one, which gets a notice', async ({ journey, petr }) => {
  const user = await journey.signIn('anna@xn--e1afmkfd.xn--p1ai')
  const page = await journey.visit({ as: user, path: '/settings' })
  // A domain in punycode is shown in letters.
  await tap(page.getByRole('link', { name: 'Электронная почта . anna@пример.рф' }))
  const main = page.getByRole('main')
  const field = main.getByLabel('Электронная почта')
  const error = main.getByRole('alert')
  const proceed = main.getByRole('button', { name: 'Продолжить' })
  expect(await proceed.isDisabled()).toBe(true)
  await write(field, 'sasha@')
  await field.press('Enter')
  await expect.poll(() => error.textContent()).toBe('Введите корректный email')
  await write(field, 'ANNA@пример.рф')
  await expect.poll(() => error.textContent()).toBe('Это ваша нынешняя почта')
  await write(field, petr.email.toUpperCase())
  await error.waitFor({ state: 'detached' })
  await tap(proceed)
  await expect.poll(() => error.textContent()).toBe('Эта почта уже используется')
  expect(await proceed.isDisabled()).toBe(true)

  const moved = 'olga@пример.рф'
  await write(field, 'olga@xn--e1afmkfd.xn--p1ai')
  await field.press('Enter')
  await page.getByText(`Отправили код на ${moved}`).waitFor()
  const mail = await journey.mailbox.mailTo(moved)
  expect(mail.subject).toMatch(/^\d{6} — код для смены почты · Вслух$/)
  await page.reload()
  await page.getByText(`Отправили код на ${moved}`).waitFor()
  const mailed = await journey.nextCode(moved)
  const code = main.getByLabel('Код подтверждения')
  await enterDigits(code, otherThan(mailed))
  await expect.poll(() => error.textContent()).toBe('Неверный код. Осталось 4 попытки')
  await page.evaluate(`new MutationObserver(() => {
    if (document.body.textContent.includes('Повторить')) window.offered = 'Повторить'
  }).observe(document.body, { childList: true, subtree: true, characterData: true })`)
  await enterDigits(code, mailed)

  await page.waitForURL(`${journey.url}/settings`)
  expect(await page.evaluate('window.offered'), 'beside a right code').toBeUndefined()
  await toast(page, 'Почта изменена').waitFor()
  await page.getByRole('link', { name: `Электронная почта . ${moved}` }).waitFor()
  await tap(page.getByRole('button', { name: 'Назад' }))
  await page.waitForURL(`${journey.url}/`)
  await journey.mailbox.mailAbout('anna@пример.рф', /Почта аккаунта изменена/)
})
