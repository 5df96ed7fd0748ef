import type { Locator, Page } from 'playwright-core'
import { expect } from 'vitest'
import { DESKTOP, type Journey, testWith } from './testing/journey.ts'
import { untilPainted } from './testing/layout-shifts.ts'
import { profileLink, signInButton, signInDialog } from './testing/sign-in-actions.ts'

const test = testWith({ OPERATOR_NAME: 'Ольга Ильина', CONTACT_EMAIL: 'o@wall.example' })

const close = (
  journey: Journey,
  column: 'registrations_closed' | 'writing_closed',
  reason: string | null,
) => journey.sql.query(`UPDATE site_state SET ${column} = $1`, [reason])

test('the texts of the site are linked from the wall’s foot, beside the column and from the sign-in, and are read without scripts', async ({
  journey,
}) => {
  const page = await journey.visit({ javaScriptEnabled: false, waitsForScripts: false })
  for (const [link, title] of [
    ['О сайте', 'О сайте'],
    ['Правила', 'Правила'],
    ['Персональные данные', 'Персональные данные'],
    ['Контакты', 'Контакты'],
  ] as const) {
    await page
      .getByRole('navigation', { name: 'О сайте' })
      .getByRole('link', { name: link })
      .click()
    await page.getByRole('heading', { level: 1, name: title }).waitFor()
  }
  await page.getByText('o@wall.example').waitFor()

  const visitor = await journey.visit()
  await signInButton(visitor).click()
  await signInDialog(visitor).email.fill('reader@example.org')
  await signInDialog(visitor).email.press('Enter')
  await signInDialog(visitor).goBack.waitFor()
  for (const [link, title] of [
    ['правила', 'Правила'],
    ['согласие на обработку персональных данных', 'Согласие на обработку персональных данных'],
  ] as const) {
    const tab = visitor.context().waitForEvent('page')
    await signInDialog(visitor).dialog.getByRole('link', { name: link }).click()
    await (await tab).getByRole('heading', { level: 1, name: title }).waitFor()
  }

  const options = { as: await journey.signUp(), viewport: DESKTOP, path: '/settings' }
  const user = await journey.visit(options)
  const beside = user.getByRole('complementary', { name: 'О сайте' })
  const contacts = beside.getByRole('link', { name: 'Контакты' })
  await contacts.waitFor()
  // On a wide screen they are not repeated at the foot.
  expect(await user.getByRole('link', { name: 'Контакты' }).count()).toBe(1)
  await contacts.click()
  await user.getByText('Ольга Ильина').waitFor()
})

/** Waits for a text on the wall, which may show visitors the state of the site a second late. */
async function untilServed(journey: Journey, text: string): Promise<void> {
  await expect.poll(async () => (await fetch(journey.url)).text()).toContain(text)
}

/** Reloads a page of a user, which may be a second late by itself. */
async function reloadUntil(shown: Locator): Promise<void> {
  await expect
    .poll(async () => {
      await shown.page().reload()
      return shown.count()
    })
    .toBe(1)
}

test('closed registrations are announced in the header and the dialog', async ({ journey }) => {
  await close(journey, 'registrations_closed', 'Разбираем спам, откроем в среду')
  await untilServed(journey, 'Разбираем спам, откроем в среду')
  const page = await journey.visit()
  await page.getByText('Регистрация закрыта: Разбираем спам, откроем в среду').waitFor()
  await signInButton(page).click()
  const { dialog, email, proceed } = signInDialog(page)
  await email.fill('new@example.org')
  await email.press('Enter')
  await dialog.getByText('пока нет. Зарегистрироваться?').waitFor()
  await proceed.click()
  await dialog.getByText('Регистрация закрыта: Разбираем спам, откроем в среду').waitFor()
  await dialog.getByText('Если у вас есть приглашение').waitFor()
  await dialog.getByRole('button', { name: 'Вернуться' }).click()
  expect(await email.inputValue()).toBe('new@example.org')
  await close(journey, 'registrations_closed', null)
})

test('registrations by invitation are announced in the header and at sign-in; an expired link shows that, and keeps the valid invitation', async ({
  journey,
}) => {
  const { sql } = journey
  await sql.query('UPDATE site_state SET is_invite_only = true')
  const [good, over] = ['a-token-that-is-good', 'a-token-that-is-over']
  await sql.query(
    `INSERT INTO invitations (token_hash, expires_at, uses, uses_left)
     SELECT sha256(token::bytea), now() + interval '1 day', 2, uses_left
     FROM (VALUES ($1, 2), ($2, 0)) invited (token, uses_left)`,
    [good, over],
  )
  await untilServed(journey, 'Регистрация по приглашениям')
  const page = await journey.visit()
  await page.getByText('Регистрация по приглашениям').waitFor()
  await signInButton(page).click()
  const { dialog, email, proceed, code } = signInDialog(page)
  await dialog.getByText('Войдите или зарегистрируйтесь по приглашению').waitFor()
  const register = async () => {
    await email.fill('invited@example.org')
    await email.press('Enter')
    await dialog.getByText('пока нет. Зарегистрироваться?').waitFor()
    await proceed.click()
  }
  await register()
  await dialog.getByText('Регистрация по приглашениям').waitFor()
  await dialog.getByRole('button', { name: 'Вернуться' }).click()

  await page.goto(`${journey.url}/invitation#${good}`)
  await page.getByRole('heading', { name: 'Вас пригласили' }).waitFor()
  await page.getByRole('button', { name: 'Зарегистрироваться' }).click()
  await email.waitFor()
  await page.keyboard.press('Escape')
  await dialog.waitFor({ state: 'detached' })
  await page.goto(`${journey.url}/invitation#${over}`)
  await page.getByRole('heading', { name: 'Приглашение больше не действует' }).waitFor()
  await signInButton(page).click()
  await register()
  await code.waitFor()
  await sql.query('UPDATE site_state SET is_invite_only = false')
})

test('closed writing is announced in the header, and a post is refused with the reason', async ({
  journey,
}) => {
  const olga = await journey.signUp()
  await close(journey, 'writing_closed', 'Переезжаем на другой сервер')
  const page = await journey.visit({ as: olga })
  await reloadUntil(page.getByText('Писать пока нельзя: Переезжаем на другой сервер'))
  await page.getByRole('button', { name: 'Новая запись' }).last().click()
  const dialog = page.getByRole('dialog')
  await dialog.getByRole('textbox').fill('Успею?')
  await dialog.getByRole('button', { name: 'Опубликовать' }).click()
  await page.getByText('Писать пока нельзя: Переезжаем на другой сервер').nth(1).waitFor()
  await close(journey, 'writing_closed', null)
})

test('a notice shows without scripts, is closed by «Понятно» for good, and the next one shows', async ({
  journey,
}) => {
  const notice = (text: string | null) =>
    journey.sql.query(
      `UPDATE site_state SET notice = $1::text, notice_since = CASE WHEN $1 IS NOT NULL THEN now() END`,
      [text],
    )
  const shown = (on: Page) => on.locator('[data-notice-id]:visible').allTextContents()

  await notice('В полночь перезапустим сервер')
  await untilServed(journey, 'В полночь перезапустим сервер')
  const reader = await journey.visit({ javaScriptEnabled: false, waitsForScripts: false })
  expect(await shown(reader)).toEqual(['В полночь перезапустим серверПонятно'])
  expect(await reader.getByRole('button', { name: 'Понятно' }).isVisible()).toBe(false)
  const page = await journey.visit({ as: await journey.signUp() })
  const line = page.locator('[data-notice-id]:visible')
  await reloadUntil(line.getByText('В полночь перезапустим сервер'))
  await page.getByRole('button', { name: 'Понятно' }).click()
  await expect.poll(() => shown(page)).toEqual([])

  // Neither the server's HTML nor the app shows it for a moment.
  await page.addInitScript(() => {
    const look = () => {
      const line = document.querySelector('[data-notice-id]')
      if (line?.checkVisibility()) document.documentElement.dataset.flashed = ''
      requestAnimationFrame(look)
    }
    look()
  })
  for (const path of ['/', '/settings']) {
    await page.goto(journey.url + path)
    await page.locator('[data-notice-id]').waitFor({ state: 'attached' })
    await profileLink(page).waitFor()
    await untilPainted(page)
    expect(await shown(page)).toEqual([])
    expect(await page.locator('[data-flashed]').count()).toBe(0)
  }
  await notice('Перезапустили, спасибо за терпение')
  await reloadUntil(line.getByText('Перезапустили, спасибо за терпение'))
  expect(await shown(page)).toEqual(['Перезапустили, спасибо за терпениеПонятно'])
  await notice(null)
})
