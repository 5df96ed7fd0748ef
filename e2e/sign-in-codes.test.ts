import type { Locator, Page, Route } from 'playwright-core'
import { expect } from 'vitest'
import { desktopTest as test } from './testing/journey.ts'
import { recordShifts, sumOfShifts } from './testing/layout-shifts.ts'
import { goOffline, refuseOnce } from './testing/page-actions.ts'
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

const WRONG = 'Неверный код'
/** For so long the page waits for the script that identifies the browser. */
const IDENTIFY_MS = 3000

test('if a keyboard or a drop enters two codes at once, the first is filled, and is sent by Enter', async ({
  journey,
}) => {
  const { email, username } = await journey.signIn('two-codes@example.org')
  const page = await journey.visit()
  await askForCode(page, email)
  const { code, proceed } = signInDialog(page)
  const mailed = await journey.nextCode(email)
  await expect.poll(() => focusedAutocomplete(page)).toBe('one-time-code')
  await page.keyboard.insertText(`Код ${mailed} или ${otherThan(mailed)}`)
  await proceed.waitFor()
  await code.press('Enter')
  await page.getByRole('link', { name: `Профиль ${username}` }).waitFor()
})

test('a wrong code shows an error with the tries left, which typing removes; after five a countdown shows when a new code can be requested', async ({
  journey,
}) => {
  const { email } = await journey.signIn('wrong@example.org')
  const page = await journey.visit()
  await askForCode(page, email)
  const { dialog, code, email: address, error, goBack, proceed } = signInDialog(page)
  const right = await journey.nextCode(email)

  const left = [
    'Осталось 4 попытки',
    'Осталось 3 попытки',
    'Осталось 2 попытки',
    'Осталась 1 попытка',
  ]
  // Until then, the dialog moves.
  await dialog.evaluate(async (it) => {
    await Promise.allSettled(it.getAnimations().map(({ finished }) => finished))
  })
  const before = await goBack.boundingBox()
  for (const tries of left) {
    await tryCode(page, otherThan(right))
    await expect.poll(() => error.textContent()).toBe(`${WRONG}. ${tries}`)
    expect(await goBack.boundingBox()).toEqual(before)
    expect(await code.inputValue()).toBe('')
    expect(await code.getAttribute('aria-invalid')).toBe('true')
    await code.press('1')
    await error.waitFor({ state: 'detached' })
  }
  await tryCode(page, otherThan(right))
  const again = dialog.getByRole('button', { name: /^Получить новый код через [89]:\d\d$/ })
  const isLocked = async (message: string) => {
    const said = new RegExp(`^${message}\\. Новый можно запросить через (9|10) минут$`)
    await expect.poll(() => error.textContent()).toMatch(said)
    await again.waitFor()
    expect(await again.isDisabled()).toBe(true)
    expect(await code.isEditable()).toBe(false)
  }
  await isLocked(`${WRONG}, попыток больше нет`)
  await page.reload()
  await isLocked('Слишком много неверных кодов')

  await goBack.click()
  await proceed.click()
  const later = dialog.getByRole('button', { name: /^Продолжить через [89]:\d\d$/ })
  await later.waitFor()
  expect(await later.isDisabled()).toBe(true)
  expect(await error.textContent()).toMatch(
    /^Слишком много неверных кодов: новый — через ([89]|10):\d\d$/,
  )
  await journey.rows('UPDATE codes SET expires_at = now() WHERE email = $1', [email])
  await journey.passLimitTime(3600)
  // Another address may be tried at once.
  await address.fill('another@example.org')
  expect(await proceed.isEnabled()).toBe(true)
  await address.fill(email)
  await proceed.click()
  await code.waitFor()
  await enterCode(page, await journey.nextCode(email))
  await profileLink(page).waitFor()
})

test.for([
  ['is blocked', (route: Route) => route.abort('blockedbyclient')],
  ['hangs', () => {}],
] as const)(
  'if the script that identifies browsers %s, a user signs in, and stays signed in after the local storage is deleted',
  async ([_how, handle], { journey }) => {
    const { email } = await journey.signUp()
    const page = await journey.visit({
      expectedErrors: /ERR_BLOCKED_BY_CLIENT/,
      before: (it) => it.clock.install(),
    })
    const script = /\/assets\/(?:fp|bowser)[.-][^/]*\.js$/
    await page.route(script, handle)
    await signInButton(page).click()
    const { email: field, code } = signInDialog(page)
    await field.fill(email)
    await field.press('Enter')
    const isAsked = async () => {
      await page.clock.fastForward(IDENTIFY_MS)
      return code.isVisible()
    }
    await expect.poll(isAsked, { interval: 500 }).toBe(true)
    await enterCode(page, await journey.nextCode(email))
    await profileLink(page).waitFor()
    await page.unroute(script)
    await page.evaluate(() => localStorage.clear())
    await page.reload()
    await profileLink(page).waitFor()
  },
)

test('a code that did not reach the server can be sent again, and the error disappears when the network is back', async ({
  journey,
}) => {
  const { email } = await journey.signIn('tunnel@example.org')
  const page = await journey.visit({ expectedErrors: /ERR_INTERNET_DISCONNECTED/ })
  await askForCode(page, email)
  const { dialog, code, error } = signInDialog(page)
  const mailed = await journey.nextCode(email)
  await goOffline(page)
  await code.fill(mailed)
  await expect.poll(() => error.textContent()).toBe('Нет связи. Проверьте интернет и повторите')
  expect(await code.inputValue()).toBe(mailed)
  await page.context().setOffline(false)
  await error.waitFor({ state: 'detached' })
  const reloaded = page.waitForEvent('load')
  await dialog.getByRole('button', { name: 'Повторить' }).click()
  await reloaded
  await profileLink(page).waitFor()
})

test('identifying this browser sends no request to any other site', async ({ journey }) => {
  const { email } = await journey.signIn('anonymous@example.org')
  const asked: string[] = []
  const page = await journey.visit({
    before: async (fresh) => {
      // The library reports one run in a thousand to its makers. Here it would report each run.
      await fresh.addInitScript('Math.random = () => 0')
      fresh.on('request', (request) => asked.push(new URL(request.url()).origin))
    },
  })
  await askForCode(page, email)
  expect([...new Set(asked)]).toEqual([journey.url])
})

test('«Отправить код ещё раз» waits for a minute, counts it down, waits as long as a refusal says, and mails the same code', async ({
  journey,
}) => {
  const { email } = await journey.signIn('egor@example.org')
  const page = await journey.visit({ before: (page) => page.clock.install() })
  await askForCode(page, email)
  const first = await journey.nextCode(email)
  const { dialog, error } = signInDialog(page)
  const resend = dialog.getByRole('button', { name: 'Отправить код ещё раз' })
  expect(await secondsOn(resend)).toBeGreaterThan(50)
  expect(await resend.isDisabled()).toBe(true)
  await page.clock.fastForward(40_000)
  await expect.poll(() => secondsOn(resend)).toBeLessThanOrEqual(20)

  await page.clock.fastForward(20_000)
  await expect.poll(() => resend.textContent()).toBe('Отправить код ещё раз')
  const refusal = 'Код на эту почту уже отправляли: следующий — через 5:00'
  await refuseOnce(page, '**/logins', refusal, 300)
  await resend.click()
  await expect.poll(() => error.textContent()).toMatch(/через 5:00$/)
  await expect.poll(() => resend.textContent()).toMatch(/через [45]:\d\d$/)
  expect(await resend.isDisabled()).toBe(true)
  await page.clock.fastForward(300_000)
  await error.waitFor({ state: 'detached' })
  await expect.poll(() => resend.textContent()).toBe('Отправить код ещё раз')

  await journey.rows("UPDATE codes SET mailed_at = mailed_at - interval '60 s' WHERE email = $1", [
    email,
  ])
  await journey.passLimitTime(60)
  await resend.click()
  expect(await journey.nextCode(email)).toBe(first)
  await expect.poll(() => focusedAutocomplete(page)).toBe('one-time-code')
  await expect.poll(() => secondsOn(resend)).toBeGreaterThan(50)
  await enterCode(page, first)
  await profileLink(page).waitFor()
})

test('a registration whose tab was closed continues from a line under the header of any page, which moves nothing as it loads', async ({
  journey,
}) => {
  const email = 'zoya@example.org'
  const first = await journey.visit()
  await signInButton(first).click()
  await sendNewEmail(first, email)
  const code = await journey.nextCode(email)
  await signInDialog(first).dialog.getByRole('button', { name: 'Закрыть' }).click()
  await codeLine(first).waitFor()
  const context = first.context()
  await first.close()

  const page = await context.newPage()
  await recordShifts(page)
  await page.goto(`${journey.url}/rules`)
  await codeLine(page).waitFor()
  expect(await codeLine(page).textContent()).toBe('Мы отправили код на z…@example.org: введите его')
  expect(await sumOfShifts(page)).toBe(0)
  await codeLine(page).click()
  await page.getByRole('dialog', { name: 'Регистрация' }).waitFor()
  await enterCode(page, code)
  await profileLink(page).waitFor()
  await page.reload()
  await profileLink(page).waitFor()
  expect(await codeLine(page).count()).toBe(0)
  expect(await page.evaluate(() => Object.keys(localStorage))).not.toContain('sign-in')
})

test('the line about a code disappears in every tab after «Вернуться», and after twenty minutes', async ({
  journey,
}) => {
  const { email } = await journey.signIn('lida@example.org')
  const page = await journey.visit({ before: (it) => it.clock.install() })
  const { dialog, goBack } = signInDialog(page)
  await askForCode(page, email)
  await page.keyboard.press('Escape')
  await codeLine(page).waitFor()
  const other = await page.context().newPage()
  await other.goto(journey.url)
  await codeLine(other).waitFor()
  await codeLine(page).click()
  await goBack.click()
  await page.keyboard.press('Escape')
  await dialog.waitFor({ state: 'detached' })
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

test('a pending code is forgotten when the viewer turns out to be signed in', async ({
  journey,
}) => {
  const user = await journey.visit({ as: await journey.signUp() })
  await user.evaluate(() => {
    const operation = { id: 'op', email: 'other@example.org', sentAt: Date.now() }
    localStorage.setItem('sign-in', JSON.stringify(operation))
  })
  await user.reload()
  await profileLink(user).waitFor()
  await expect.poll(() => user.evaluate(() => localStorage.getItem('sign-in'))).toBe(null)
  expect(await codeLine(user).count()).toBe(0)
})

function codeLine(page: Page): Locator {
  return page.getByRole('button', { name: /^Мы отправили код на/ })
}

/** Types a code and waits for the answer. */
async function tryCode(page: Page, code: string): Promise<void> {
  const answered = page.waitForResponse(/\/verify$/)
  await signInDialog(page).code.fill(code)
  await answered
}

/** Returns the seconds in «Отправить код ещё раз через 57 с»; NaN if there are none. */
async function secondsOn(resend: Locator): Promise<number> {
  return Number(/через (\d+) с$/.exec((await resend.textContent()) ?? '')?.[1])
}
