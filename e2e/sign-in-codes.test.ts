import type { Locator, Page } from 'playwright-core'
import { expect } from 'vitest'
import { enterDigits, tap, write } from './testing/hands.ts'
import { desktopTest as test } from './testing/journey.ts'
import { recordShifts, sumOfShifts, untilPainted } from './testing/layout-shifts.ts'
import {
  countRequests,
  goOffline,
  goOnline,
  holdCalls,
  refuseNews,
  refuseOnce,
} from './testing/page/network.ts'
import { closeByKey, untilStill } from './testing/page/overlays.ts'
import { focused } from './testing/page/tab.ts'
import {
  askForCode,
  enterCode,
  focusedAutocomplete,
  otherThan,
  profileLink,
  sendNewEmail,
  signInButton,
  signInDialog,
} from './testing/sign-in-actions.ts'

test('of two codes the first is filled, and can be sent again', async ({ journey, olga }) => {
  const page = await journey.visit({ expectedErrors: /ERR_INTERNET_DISCONNECTED/ })
  await askForCode(page, olga.email)
  const { code, error, dialog, proceed } = signInDialog(page)
  const mailed = await journey.nextCode(olga.email)
  await expect.poll(() => focusedAutocomplete(page)).toBe('one-time-code')
  await page.keyboard.insertText(`Код ${mailed} или ${otherThan(mailed)}`)
  await proceed.waitFor()
  await goOffline(page)
  await code.press('Enter')
  await expect.poll(() => error.textContent()).toBe('Нет связи. Проверьте интернет и повторите')
  expect(await code.inputValue()).toBe(mailed)
  await goOnline(page)
  await error.waitFor({ state: 'detached' })
  const held = await holdCalls(page, '**/verify')
  const retry = dialog.getByRole('button', { name: 'Повторить' })
  await retry.press('Enter')
  await held.asked
  expect(await retry.evaluate((it) => it === document.activeElement)).toBe(true)
  held.letGo()
  await page.getByRole('link', { name: `Профиль ${olga.username}` }).waitFor()
})

test('a filled code is sent only if it stands alone', async ({ journey, olga }) => {
  const page = await journey.visit()
  await askForCode(page, olga.email)
  const verifications = countRequests(page, 'POST', /\/verify$/)
  const { code, proceed } = signInDialog(page)
  const mailed = await journey.nextCode(olga.email)
  for (const text of [`Ваш код ${mailed}`, `${mailed}7890`, `пароль${mailed}`]) {
    await code.evaluate(fillAsPasswordManager, text)
    expect(await code.inputValue()).toBe(mailed)
    await proceed.waitFor()
    await code.evaluate(fillAsPasswordManager, '')
    await proceed.waitFor({ state: 'detached' })
  }
  expect(verifications()).toBe(0)
  const reloaded = page.waitForEvent('load')
  await code.evaluate(fillAsPasswordManager, `${mailed.slice(0, 3)} ${mailed.slice(3)}`)
  await reloaded
  await profileLink(page).waitFor()
  expect(verifications()).toBe(1)
})

/** Sets the whole value without a key or a paste, past the setter that React watches. */
function fillAsPasswordManager(field: Element, text: string): void {
  const { set } = Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value') ?? {}
  set?.call(field, text)
  field.dispatchEvent(
    new InputEvent('input', { bubbles: true, inputType: 'insertReplacementText' }),
  )
}

test('a later code stays if an earlier one is late', async ({ journey, olga, petr }) => {
  const page = await journey.visit()
  const { dialog, email } = signInDialog(page)
  const held = await holdCalls(page, '**/logins', 1)
  await tap(signInButton(page))
  await write(email, olga.email)
  await email.press('Enter')
  await held.asked
  await closeByKey(dialog)
  await askForCode(page, petr.email)
  const answered = page.waitForResponse('**/logins')
  held.letGo()
  await (await answered).finished()
  await untilPainted(page)
  await page.reload()
  await dialog.getByText(`Отправили код на ${petr.email}`).waitFor()
})

test('after five wrong codes a countdown to the next shows', async ({ journey, olga }) => {
  const { email } = olga
  const page = await journey.visit()
  await askForCode(page, email)
  const { dialog, code, email: address, error, goBack, proceed } = signInDialog(page)
  const wrong = otherThan(await journey.nextCode(email))
  await untilStill(dialog)
  const before = await goBack.boundingBox()
  for (const left of [4, 3, 2, 1]) {
    await enterDigits(code, wrong)
    const refusal = new RegExp(`^Неверный код\\. Остал.* ${left} попытк`)
    await expect.poll(() => error.textContent()).toMatch(refusal)
    expect(await goBack.boundingBox()).toEqual(before)
    expect(await code.inputValue()).toBe('')
    expect(await code.getAttribute('aria-invalid')).toBe('true')
    await code.press('1')
    await error.waitFor({ state: 'detached' })
  }
  await enterDigits(code, wrong)
  const again = dialog.getByRole('button', { name: /^Получить новый код через \d+ с$/ })
  const expectLock = async (message: string) => {
    const refusal = `${message}. Новый можно запросить через`
    await expect.poll(() => error.textContent()).toContain(refusal)
    await again.waitFor()
    expect(await again.isDisabled()).toBe(true)
    expect(await code.isEditable()).toBe(false)
  }
  await expectLock('Неверный код, попыток больше нет')
  await page.reload()
  await expectLock('Слишком много неверных кодов')

  await tap(goBack)
  await tap(proceed)
  const later = dialog.getByRole('button', { name: /^Продолжить через \d+ с$/ })
  await later.waitFor()
  expect(await later.isDisabled()).toBe(true)
  const locked = 'Слишком много неверных кодов: новый — через'
  await expect.poll(() => error.textContent()).toContain(locked)
  // Another address may be tried at once.
  await write(address, 'another@example.org')
  expect(await proceed.isEnabled()).toBe(true)
})

test('a user signs in without the scripts that identify the browser', async ({ journey, olga }) => {
  const { email } = olga
  const before = (it: Page) => it.clock.install()
  const page = await journey.visit({ expectedErrors: /ERR_BLOCKED_BY_CLIENT/, before })
  // One script hangs, and a content blocker keeps the other away.
  await page.route(/\/assets\/fp[.-]/, () => {})
  await page.route(/\/assets\/bowser[.-]/, (route) => route.abort('blockedbyclient'))
  await tap(signInButton(page))
  const { email: field, code } = signInDialog(page)
  await write(field, email)
  await field.press('Enter')
  const isAsked = async () => {
    // For so long the page waits for the scripts.
    await page.clock.fastForward(3000)
    return code.isVisible()
  }
  await expect.poll(isAsked, { interval: 500 }).toBe(true)
  await enterCode(page, await journey.nextCode(email))
  await profileLink(page).waitFor()
  await page.evaluate(() => localStorage.clear())
  await page.reload()
  await profileLink(page).waitFor()
})

test('a code is mailed again when a countdown has ended', async ({ journey, olga: { email } }) => {
  const page = await journey.visit({ before: (page) => page.clock.install() })
  await askForCode(page, email)
  const first = await journey.nextCode(email)
  const { dialog, error } = signInDialog(page)
  const resend = dialog.getByRole('button', { name: 'Отправить код ещё раз' })
  const label = () => resend.textContent()
  expect(await label()).toMatch(/ через (5\d|60) с$/)
  expect(await resend.isDisabled()).toBe(true)
  await page.clock.fastForward(40_000)
  await expect.poll(label).toMatch(/ через (1?\d|20) с$/)

  await page.clock.fastForward(20_000)
  await expect.poll(label).toBe('Отправить код ещё раз')
  const refusal = 'Код на эту почту уже отправляли: следующий — через 5:00'
  await refuseOnce(page, '**/logins', refusal, 300)
  await resend.press('Enter')
  await expect.poll(() => error.textContent()).toMatch(/через 5:00$/)
  await expect.poll(() => focused(page)).toMatch(/^Отправить код ещё раз через [45]:\d\d$/)
  expect(await resend.isDisabled()).toBe(true)
  await page.clock.fastForward(300_000)
  await error.waitFor({ state: 'detached' })
  await expect.poll(label).toBe('Отправить код ещё раз')

  const mailed = "UPDATE codes SET mailed_at = mailed_at - interval '60 s' WHERE email = $1"
  await journey.rows(mailed, [email])
  await journey.passLimitTime(60)
  await tap(resend)
  expect(await journey.nextCode(email)).toBe(first)
  await expect.poll(() => focusedAutocomplete(page)).toBe('one-time-code')
  await expect.poll(label).toMatch(/ через (5\d|60) с$/)
})

test('a registration left at the code continues from any page', async ({ journey }) => {
  const email = 'zoya@example.org'
  const first = await journey.visit()
  await tap(signInButton(first))
  await sendNewEmail(first, email)
  await journey.nextCode(email)
  await tap(signInDialog(first).dialog.getByRole('button', { name: 'Закрыть' }))
  await codeLine(first).waitFor()
  const page = await first.context().newPage()
  await first.close()

  await recordShifts(page)
  await page.goto(`${journey.url}/rules`)
  await codeLine(page).waitFor()
  expect(await codeLine(page).textContent()).toBe('Мы отправили код на z…@example.org: введите его')
  expect(await sumOfShifts(page)).toBe(0)
  await journey.rows('UPDATE codes SET expires_at = now() WHERE email = $1', [email])
  await journey.passLimitTime(3600)
  await page.clock.install()
  await page.clock.fastForward('11:00')
  await tap(codeLine(page))
  const dialog = page.getByRole('dialog', { name: 'Регистрация' })
  await dialog.getByText('Код больше не действует. Запросите новый').waitFor()
  await tap(dialog.getByRole('button', { name: 'Получить новый код' }))
  const fresh = await journey.nextCode(email)
  await dialog.getByRole('alert').waitFor({ state: 'detached' })
  await enterCode(page, fresh)
  await profileLink(page).waitFor()
  await page.reload()
  await profileLink(page).waitFor()
  expect(await codeLine(page).count()).toBe(0)
  expect(await page.evaluate(() => Object.keys(localStorage))).not.toContain('sign-in')
})

test('the line on a code ends with it, in every tab', async ({ journey, olga: { email } }) => {
  const page = await journey.visit({
    before: async (it) => {
      await it.clock.install()
      await refuseNews(it)
    },
  })
  const { dialog, goBack } = signInDialog(page)
  await askForCode(page, email)
  await page.keyboard.press('Escape')
  await codeLine(page).waitFor()
  const other = await page.context().newPage()
  await other.goto(journey.url)
  await codeLine(other).waitFor()
  await page.reload({ waitUntil: 'networkidle' })
  await codeLine(page).waitFor()
  // A dialog would have loaded its chunk by now.
  expect(await dialog.count()).toBe(0)
  await tap(signInButton(page))
  await tap(goBack)
  await closeByKey(dialog)
  await codeLine(other).waitFor({ state: 'detached' })
  expect(await codeLine(page).count()).toBe(0)

  await askForCode(page, email)
  await page.keyboard.press('Escape')
  await codeLine(page).waitFor()
  await page.clock.fastForward('20:01')
  await codeLine(page).waitFor({ state: 'detached' })
  await page.reload()
  await signInButton(page).waitFor()
  expect(await page.locator('html[data-code-sent]').count()).toBe(0)
})

function codeLine(page: Page): Locator {
  return page.getByRole('button', { name: /^Мы отправили код на/ })
}
