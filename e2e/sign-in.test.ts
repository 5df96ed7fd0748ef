import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import { desktopTest as test } from './testing/journey.ts'
import { countRequests, refuseNews } from './testing/page-actions.ts'
import {
  askForCode,
  descriptionOfFocus,
  enterCode,
  focusedAutocomplete,
  profileLink,
  signInButton,
  signInDialog,
} from './testing/sign-in-actions.ts'

test('an address is required, validated, and its error is announced', async ({ journey }) => {
  const page = await journey.visit()
  const step = signInDialog(page)
  await signInButton(page).click()
  await page.getByRole('dialog', { name: 'Вход' }).waitFor()
  await step.dialog.getByRole('heading', { name: 'Вслух' }).waitFor()
  await expect.poll(() => focusedAutocomplete(page)).toBe('email')
  expect(await descriptionOfFocus(page)).toContain('Войдите или зарегистрируйтесь')
  expect(await step.email.getAttribute('inputmode')).toBe('email')
  // In a field of the type email, Chromium would change the typed text.
  await step.email.pressSequentially('anna@пример.рф')
  expect(await step.email.inputValue()).toBe('anna@пример.рф')
  await step.email.fill('')
  expect(await step.proceed.isDisabled()).toBe(true)

  await step.email.press('Enter')
  await expect.poll(() => step.error.textContent()).toBe('Введите email')
  await step.dialog.getByRole('button', { name: 'Закрыть' }).click()
  await signInButton(page).click()
  await step.email.fill('olga@example')
  expect(await step.error.count()).toBe(0)
  await step.email.blur()
  expect(await step.error.textContent()).toBe('Введите корректный email')
  expect(await step.email.getAttribute('aria-invalid')).toBe('true')
  expect(await step.proceed.isDisabled()).toBe(true)

  await step.email.fill('  ')
  expect(await step.error.textContent()).toBe('Введите email')
  await step.email.fill('olga@example.org')
  expect(await step.error.count()).toBe(0)
  expect(await step.proceed.isEnabled()).toBe(true)
})

test('a browser that refuses cookies shows that before a code is mailed', async ({ journey }) => {
  const page = await journey.visit()
  const refusal = signInDialog(page).dialog.getByText(
    'Браузер не принимает cookie: без них войти нельзя. Разрешите их для этого сайта',
  )
  await signInButton(page).click()
  await signInDialog(page).email.waitFor()
  expect(await refusal.count()).toBe(0)
  await page.keyboard.press('Escape')
  const browser = await page.context().newCDPSession(page)
  await browser.send('Emulation.setDocumentCookieDisabled', { disabled: true })
  await signInButton(page).click()
  await refusal.waitFor()
})

test('on a small phone the field is in the upper half, above the button even at 256 px, and the registration step has one left edge and terms with links of 44 px', async ({
  journey,
}) => {
  const page = await journey.visit({ viewport: { width: 320, height: 568 } })
  await signInButton(page).click()
  const { dialog, email, proceed, goBack } = signInDialog(page)
  await expect.poll(async () => (await email.boundingBox())?.y).toBeLessThan(284 - 48)
  await page.setViewportSize({ width: 320, height: 256 })
  expect((await email.boundingBox())?.width).toBeGreaterThan(270)
  // Polls, because the dialog moves.
  await expect
    .poll(async () => {
      const [field, button] = [await email.boundingBox(), await proceed.boundingBox()]
      return (button?.y ?? 0) - (field?.y ?? 0) - (field?.height ?? 0)
    })
    .toBeGreaterThanOrEqual(0)
  await page.setViewportSize({ width: 320, height: 568 })
  expect(await dialog.getByRole('heading').allTextContents()).toEqual(['Вслух'])
  expect(await dialog.getByRole('link').count()).toBe(0)
  await email.fill('galya@example.org')
  await email.press('Enter')
  await goBack.waitFor()
  const terms = dialog.getByText(
    'Продолжая, вы принимаете правила и даёте согласие на обработку персональных данных.',
  )
  await terms.waitFor()
  const question = dialog.getByText('Зарегистрироваться?')
  const column = [dialog.getByRole('heading'), question, terms, proceed, goBack]
  const lefts = await Promise.all(column.map(async (it) => (await it.boundingBox())?.x))
  expect(new Set(lefts).size).toBe(1)
  for (const name of ['правила', 'согласие на обработку персональных данных']) {
    const link = dialog.getByRole('link', { name })
    expect((await link.boundingBox())?.height).toBeGreaterThanOrEqual(44)
    await link.click({ trial: true })
  }
})

test('a mistyped mail host is questioned before the mail is sent, corrected by a tap, and never refused; two presses in one frame ask once', async ({
  journey,
}) => {
  const page = await journey.visit()
  const starts = countRequests(page, 'POST', /\/logins$/)
  await signInButton(page).click()
  const { dialog, email, proceed, goBack } = signInDialog(page)
  await email.fill('ivan.petrov@gmial.com')
  await email.press('Enter')
  await dialog.getByRole('button', { name: 'Может быть, gmail.com?' }).click()
  expect(await email.inputValue()).toBe('ivan.petrov@gmail.com')
  await expect.poll(() => page.locator(':focus').textContent()).toBe('Продолжить')
  expect(await dialog.getByText('Может быть').count()).toBe(0)

  await email.fill('ivan.petrov@yandx.ru')
  await proceed.click()
  await dialog.getByText('Может быть, yandex.ru?').waitFor()
  expect(starts()).toBe(0)
  await proceed.evaluate((button: HTMLElement) => {
    button.click()
    button.click()
  })
  await goBack.waitFor()
  await dialog.getByText('ivan.petrov@yandx.ru').waitFor()
  expect(starts()).toBe(1)
})

test('the address step repeats the reason for signing in', async ({ journey }) => {
  const author = await journey.signUp()
  await journey.publish(author, 'Спросите меня')
  const page = await journey.visit()
  const { dialog } = signInDialog(page)
  for (const [button, reason] of [
    ['Ответить', 'Чтобы ответить, войдите или зарегистрируйтесь'],
    ['Нравится', 'Чтобы отметить запись, войдите или зарегистрируйтесь'],
    ['Новая запись', 'Чтобы написать, войдите или зарегистрируйтесь'],
    ['Войти', /^Войдите или зарегистрируйтесь/],
  ] as const) {
    await page.getByRole('button', { name: button }).first().click()
    await dialog.getByText(reason).waitFor()
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'detached' })
  }
})

test('a user signs in by the mailed code, which is sent once when «123 456» is pasted', async ({
  journey,
}) => {
  const { email, username } = await journey.signIn('anna@example.org')
  const page = await journey.visit()
  const { dialog, code } = signInDialog(page)
  await askForCode(page, ` ${email} `)
  await dialog.getByText(`Отправили код на ${email}`).waitFor()
  await expect.poll(() => focusedAutocomplete(page)).toBe('one-time-code')
  expect(await code.getAttribute('inputmode')).toBe('numeric')

  const mailed = await journey.nextCode(email)
  const verifications = countRequests(page, 'POST', /\/verify$/)
  const reloaded = page.waitForEvent('load')
  await copy(page, `${mailed.slice(0, 3)} ${mailed.slice(3)}`)
  await page.keyboard.press('ControlOrMeta+V')
  await reloaded
  await page.getByRole('link', { name: `Профиль ${username}` }).waitFor()
  expect(verifications()).toBe(1)
  expect(await dialog.count()).toBe(0)
})

test('an unknown address is offered registration: «Вернуться» leads back to it, «Продолжить» to the code', async ({
  journey,
}) => {
  const email = 'boris@example.org'
  const page = await journey.visit()
  const step = signInDialog(page)
  await signInButton(page).click()
  await step.email.fill(email)
  await step.email.press('Enter')

  await page.getByRole('dialog', { name: 'Регистрация' }).waitFor()
  await expect.poll(() => page.locator(':focus').textContent()).toBe('Продолжить')
  expect(await descriptionOfFocus(page)).toBe(
    `Аккаунта с почтой ${email} пока нет. Зарегистрироваться?`,
  )
  await step.dialog.getByText(`Аккаунта с почтой ${email} пока нет`).waitFor()
  await step.goBack.click()
  await page.getByRole('dialog', { name: 'Вход' }).waitFor()
  expect(await step.email.inputValue()).toBe(email)

  await step.proceed.click()
  await step.goBack.waitFor()
  await step.proceed.press('Enter')
  await step.code.waitFor()
  await page.getByRole('dialog', { name: 'Регистрация' }).waitFor()
  await expect.poll(() => focusedAutocomplete(page)).toBe('one-time-code')
  expect(await descriptionOfFocus(page)).toContain(`Отправили код на ${email}.`)
  const mail = await journey.mailbox.mailTo(email)
  expect(mail.subject).toMatch(/^\d{6} — код для регистрации · Вслух$/)
  await enterCode(page, await journey.nextCode(email))
  await page.getByRole('link', { name: /^Профиль user_/ }).waitFor()

  await page
    .getByRole('status')
    .getByText(/^Теперь вы user_/)
    .waitFor()
  await page.getByRole('link', { name: 'Выбрать имя' }).click()
  await page.getByRole('heading', { name: 'Задать имя пользователя' }).waitFor()
})

test('a dialog closed on the code stays closed after a reload, continues at «Войти», and offers a new code at once if the old one has expired', async ({
  journey,
}) => {
  const { email } = await journey.signIn('dasha@example.org')
  const page = await journey.visit({
    before: async (page) => {
      await page.clock.install()
      await refuseNews(page)
    },
  })
  const { dialog, code, error } = signInDialog(page)
  await askForCode(page, email)
  await journey.nextCode(email)
  await page.keyboard.press('Escape')
  await dialog.waitFor({ state: 'detached' })
  await page.reload()
  await signInButton(page).waitFor()
  // A dialog would have to load its chunk first.
  await page.waitForLoadState('networkidle')
  expect(await dialog.count()).toBe(0)
  await signInButton(page).click()
  await code.waitFor()

  await journey.rows('UPDATE codes SET expires_at = now() WHERE email = $1', [email])
  await page.clock.fastForward('11:00')
  await page.reload()
  await dialog.getByText('Код больше не действует. Запросите новый').waitFor()
  await journey.passLimitTime(3600)
  await dialog.getByRole('button', { name: 'Получить новый код' }).click()
  const fresh = await journey.nextCode(email)
  await error.waitFor({ state: 'detached' })
  await enterCode(page, fresh)
  await profileLink(page).waitFor()
})

/** Copies a text from another tab, which needs no secure context. */
async function copy(page: Page, text: string): Promise<void> {
  const other = await page.context().newPage()
  await other.setContent(`<textarea>${text}</textarea>`)
  await other.getByRole('textbox').selectText()
  await other.keyboard.press('ControlOrMeta+C')
  await other.close()
}
