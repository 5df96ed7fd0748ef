import { expect } from 'vitest'
import { clear, copy, drop, tap, write } from './testing/hands.ts'
import { desktopTest as test } from './testing/journey.ts'
import { switchView } from './testing/page/feed.ts'
import { boxOf } from './testing/page/layout.ts'
import { countRequests } from './testing/page/network.ts'
import { closeByKey } from './testing/page/overlays.ts'
import {
  askForCode,
  descriptionOfFocus,
  enterCode,
  focusedAutocomplete,
  signInButton,
  signInDialog,
} from './testing/sign-in-actions.ts'

test('an address is validated, and a mistyped host is questioned once', async ({ journey }) => {
  const page = await journey.visit()
  const starts = countRequests(page, 'POST', /\/logins$/)
  const { dialog, email, error, goBack, proceed } = signInDialog(page)
  await tap(signInButton(page))
  await page.getByRole('dialog', { name: 'Вход' }).waitFor()
  await expect.poll(() => focusedAutocomplete(page)).toBe('email')
  expect(await descriptionOfFocus(page)).toContain('Войдите или зарегистрируйтесь')
  expect(await email.getAttribute('inputmode')).toBe('email')
  // In a field of the type email, Chromium would change the typed text.
  await write(email, 'anna@пример.рф')
  await clear(email)
  expect(await proceed.isDisabled()).toBe(true)

  await drop(email, ' <anna@example.org\u200b>')
  await expect.poll(() => email.inputValue()).toBe('anna@example.org')
  await clear(email)

  await email.press('Enter')
  await expect.poll(() => error.textContent()).toBe('Введите email')
  await tap(dialog.getByRole('button', { name: 'Закрыть' }))
  await tap(signInButton(page))
  await write(email, 'olga@example')
  expect(await error.count()).toBe(0)
  await email.blur()
  expect(await error.textContent()).toBe('Введите корректный email')
  expect(await email.getAttribute('aria-invalid')).toBe('true')
  expect(await proceed.isDisabled()).toBe(true)

  await write(email, 'ivan.petrov@gmial.com')
  expect(await error.count()).toBe(0)
  await email.press('Enter')
  await tap(dialog.getByRole('button', { name: 'Может быть, gmail.com?' }))
  expect(await email.inputValue()).toBe('ivan.petrov@gmail.com')
  await expect.poll(() => page.locator(':focus').textContent()).toBe('Продолжить')
  expect(await dialog.getByText('Может быть').count()).toBe(0)
  await write(email, 'ivan.petrov@yandx.ru')
  await tap(proceed)
  await dialog.getByText('Может быть, yandex.ru?').waitFor()
  expect(starts()).toBe(0)
  // Two presses in one frame ask once.
  await proceed.evaluate((button: HTMLElement) => {
    button.click()
    button.click()
  })
  await goBack.waitFor()
  await dialog.getByText('ivan.petrov@yandx.ru').waitFor()
  expect(starts()).toBe(1)
})

test('the address step names the reason, and refused cookies', async ({ journey, olga }) => {
  await journey.publish(olga, 'Спросите меня')
  const page = await journey.visit()
  const { dialog } = signInDialog(page)
  const press = (name: string) => tap(page.getByRole('button', { name }).first())
  const refusal = dialog.getByText(
    'Браузер не принимает cookie: без них войти нельзя. Разрешите их для этого сайта',
  )
  for (const [open, reason] of [
    [() => press('Ответить'), 'Чтобы ответить, войдите или зарегистрируйтесь'],
    [() => press('Нравится'), 'Чтобы отметить запись, войдите или зарегистрируйтесь'],
    [() => press('Новая запись'), 'Чтобы написать, войдите или зарегистрируйтесь'],
    [() => switchView(page, 'Мои записи'), /^Войдите или зарегистрируйтесь/],
  ] as const) {
    await open()
    await dialog.getByText(reason).waitFor()
    expect(await refusal.count()).toBe(0)
    await closeByKey(dialog)
  }
  const browser = await page.context().newCDPSession(page)
  await browser.send('Emulation.setDocumentCookieDisabled', { disabled: true })
  await press('Войти')
  await refusal.waitFor()
})

test('on a small phone all steps are in sight, links 44 px high, nothing cut', async ({
  journey,
}) => {
  const page = await journey.visit({ viewport: { width: 320, height: 568 } })
  await tap(signInButton(page))
  const { dialog, email, proceed, goBack } = signInDialog(page)
  await expect.poll(async () => (await boxOf(email)).top).toBeLessThan(284 - 48)
  await page.setViewportSize({ width: 320, height: 256 })
  expect((await boxOf(email)).width).toBeGreaterThan(270)
  // Polls, because the dialog moves.
  const distance = async () => (await boxOf(proceed)).top - (await boxOf(email)).bottom
  await expect.poll(distance).toBeGreaterThanOrEqual(0)
  await page.setViewportSize({ width: 320, height: 568 })
  await write(email, 'galya@example.org')
  await email.press('Enter')
  await goBack.waitFor()
  const heading = dialog.getByRole('heading', { name: 'Вслух' })
  const question = dialog.getByText('Зарегистрироваться?')
  const terms = dialog.getByText(
    'Продолжая, вы принимаете правила и даёте согласие на обработку персональных данных.',
  )
  const column = [heading, question, terms, proceed, goBack]
  const lefts = await Promise.all(column.map(async (it) => (await boxOf(it)).left))
  expect(new Set(lefts).size).toBe(1)
  for (const [name, href] of [
    ['правила', '/rules'],
    ['согласие на обработку персональных данных', '/consent'],
  ] as const) {
    const link = dialog.getByRole('link', { name })
    expect(await link.getAttribute('href')).toBe(href)
    expect((await boxOf(link)).height).toBeGreaterThanOrEqual(44)
    await link.click({ trial: true })
  }

  await tap(proceed)
  await dialog.getByRole('button', { name: /^Отправить код ещё раз через/ }).waitFor()
  expect(await dialog.evaluate(cutParts)).toEqual([])
  // The phone at 400 %, and a larger one with large letters.
  await page.setViewportSize({ width: 305, height: 225 })
  expect(await dialog.evaluate(cutParts)).toEqual([])
  await page.setViewportSize({ width: 390, height: 844 })
  await page.evaluate(() => {
    document.documentElement.style.fontSize = '200%'
  })
  expect(await dialog.evaluate(cutParts)).toEqual([])
})

test('a user signs in by a code pasted as «123 456», which is sent once', async ({ journey }) => {
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

test('an unknown address may be corrected, and is offered registration', async ({ journey }) => {
  const email = 'boris@example.org'
  const page = await journey.visit()
  const step = signInDialog(page)
  await tap(signInButton(page))
  await write(step.email, email)
  await step.email.press('Enter')

  await page.getByRole('dialog', { name: 'Регистрация' }).waitFor()
  await expect.poll(() => page.locator(':focus').textContent()).toBe('Продолжить')
  expect(await descriptionOfFocus(page)).toBe(
    `Аккаунта с почтой ${email} пока нет. Зарегистрироваться?`,
  )
  await tap(step.goBack)
  await page.getByRole('dialog', { name: 'Вход' }).waitFor()
  expect(await step.email.inputValue()).toBe(email)

  await tap(step.proceed)
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

  await tap(page.getByRole('link', { name: 'Выбрать имя' }))
  await page.getByRole('heading', { name: 'Задать имя пользователя' }).waitFor()
})

/** Returns the elements that stick out of a dialog, or whose content does. */
function cutParts(dialog: Element): string[] {
  const { left, right } = dialog.getBoundingClientRect()
  const parts = [...dialog.querySelectorAll('*')].filter((part) => !part.closest('svg'))
  const cut = parts.filter((part) => {
    const box = part.getBoundingClientRect()
    const isOutside = box.width > 0 && (box.left < left || box.right > right)
    const isTooSmall = part.scrollWidth > part.clientWidth + 1
    return isOutside || (isTooSmall && getComputedStyle(part).display !== 'inline')
  })
  return cut.map((part) => `${part.tagName} ${part.textContent}`)
}
