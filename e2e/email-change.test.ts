import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import { journey, desktopTest as test } from './testing/journey.ts'
import { countRequests, toast } from './testing/page-actions.ts'
import { otherThan } from './testing/sign-in-actions.ts'

const WRONG = 'Неверный код. Проверьте письмо и введите ещё раз'
const EXPIRED = 'Код больше не действует. Запросите новый'
const TOO_MANY = 'Слишком много неверных кодов'
const TAKEN = 'Эта почта уже используется'

test('an address changes in two steps; the old one gets a notice, and the new one signs in', async () => {
  const user = await journey.signUp()
  const page = await journey.visit({ as: user, path: '/settings' })
  await page.getByRole('link', { name: `Электронная почта ${user.email}` }).click()
  const { field, error, proceed, code } = emailForm(page)
  expect(await proceed.isDisabled()).toBe(true)
  await field.fill(user.email.toUpperCase())
  await expect.poll(() => error.textContent()).toBe('Это ваша нынешняя почта')
  expect(await proceed.isDisabled()).toBe(true)
  await field.fill('moved@example.org')
  await field.press('Enter')
  await page.getByText('Отправили код на moved@example.org').waitFor()
  const mail = await journey.mailbox.mailTo('moved@example.org')
  expect(mail.subject).toMatch(/^\d{6} — код для смены почты · Вслух$/)
  await page.reload()
  await page.getByText('Отправили код на moved@example.org').waitFor()
  const verifications = countRequests(page, 'PUT', /\/verify$/)
  await code.fill(await journey.nextCode('moved@example.org'))

  await page.waitForURL(`${journey.url}/settings`)
  await toast(page, 'Почта изменена').waitFor()
  await page.getByRole('link', { name: 'Электронная почта moved@example.org' }).waitFor()
  expect(verifications()).toBe(1)
  await page.getByRole('button', { name: 'Назад' }).click()
  await page.waitForURL(`${journey.url}/`)
  const notice = await journey.mailbox.mailAbout(user.email, /Почта аккаунта изменена/)
  expect(notice.text).toContain(user.username)
  expect(notice.text).not.toContain('moved@example.org')
  expect((await journey.signIn('moved@example.org')).id).toBe(user.id)
})

test('a malformed address and one that somebody has are refused under the input', async () => {
  const neighbour = await journey.signUp()
  const page = await journey.visit({ as: await journey.signUp(), path: '/settings/account/email' })
  const { field, error, proceed } = emailForm(page)
  await field.fill('sasha@')
  await field.press('Enter')
  await expect.poll(() => error.textContent()).toBe('Введите корректный email')
  expect(await proceed.isDisabled()).toBe(true)

  await field.fill(neighbour.email.toUpperCase())
  await error.waitFor({ state: 'detached' })
  await proceed.click()
  await expect.poll(() => error.textContent()).toBe(TAKEN)
  expect(await proceed.isDisabled()).toBe(true)
  await field.fill('free@example.org')
  await error.waitFor({ state: 'detached' })
  expect(await proceed.isEnabled()).toBe(true)
})

test('wrong codes, too many of them, and an expired one show errors; the address stays', async () => {
  const user = await journey.signUp()
  const page = await journey.visit({ as: user, path: '/settings/account/email' })
  const { field, code, error, goBack, proceed, resend } = emailForm(page)
  await field.fill('guessed@example.org')
  await proceed.click()
  const right = await journey.nextCode('guessed@example.org')
  for (let left = 4; left >= 1; left--) {
    await tryCode(page, otherThan(right))
    await expect.poll(() => error.textContent()).toMatch(RegExp(`^${WRONG}. Остал.сь ${left} `))
    await expect.poll(() => code.inputValue()).toBe('')
  }
  await tryCode(page, otherThan(right))
  await expect.poll(() => error.textContent()).toBe(TOO_MANY)
  await page.getByRole('button', { name: /^Получить новый код через 9:/ }).waitFor()
  expect(await resend.count()).toBe(0)

  await goBack.click()
  expect(await field.inputValue()).toBe('guessed@example.org')
  await field.fill('slow@example.org')
  await proceed.click()
  const expired = await journey.nextCode('slow@example.org')
  await journey.rows("UPDATE codes SET expires_at = now() WHERE email = 'slow@example.org'")
  await tryCode(page, expired)
  await expect.poll(() => error.textContent()).toBe(EXPIRED)
  expect(await journey.rows('SELECT email FROM users WHERE id = $1', [user.id])).toEqual([
    { email: user.email },
  ])
  await page.getByRole('button', { name: 'Получить новый код' }).click()
  await code.fill(await journey.nextCode('slow@example.org'))
  await page.getByRole('link', { name: 'Электронная почта slow@example.org' }).waitFor()
  expect(new URL(page.url()).pathname).toBe('/settings')
})

test('an address that somebody registers meanwhile is refused with the code', async () => {
  const page = await journey.visit({ as: await journey.signUp(), path: '/settings/account/email' })
  const { field, error, proceed } = emailForm(page)
  await field.fill('raced@example.org')
  await proceed.click()
  const mailed = await journey.nextCode('raced@example.org')
  await journey.signIn('raced@example.org')
  await tryCode(page, mailed)
  await expect.poll(() => error.textContent()).toBe(TAKEN)
})

test('the code comes once more after a minute', async () => {
  const page = await journey.visit({
    as: await journey.signUp(),
    path: '/settings/account/email',
    before: (page) => page.clock.install(),
  })
  const { field, proceed, resend } = emailForm(page)
  await field.fill('twice@example.org')
  await proceed.click()
  const first = await journey.nextCode('twice@example.org')
  expect(await resend.textContent()).toMatch(/через \d+ с$/)
  expect(await resend.isDisabled()).toBe(true)
  await page.clock.fastForward(60_000)
  await expect.poll(() => resend.textContent()).toBe('Отправить код ещё раз')
  await journey.rows("UPDATE codes SET mailed_at = mailed_at - interval '60 s'")
  await resend.click()
  expect(await journey.nextCode('twice@example.org')).toBe(first)
})

function emailForm(page: Page) {
  const main = page.getByRole('main')
  return {
    field: main.getByLabel('Электронная почта'),
    code: main.getByLabel('Код подтверждения'),
    error: main.getByRole('alert'),
    proceed: main.getByRole('button', { name: 'Продолжить' }),
    goBack: main.getByRole('button', { name: 'Вернуться' }),
    resend: main.getByRole('button', { name: 'Отправить код ещё раз' }),
  }
}

/** Types a code and waits for the answer. */
async function tryCode(page: Page, code: string): Promise<void> {
  const answered = page.waitForResponse(/\/verify$/)
  await emailForm(page).code.fill(code)
  await answered
}
