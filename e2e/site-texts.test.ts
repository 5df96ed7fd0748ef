import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import { tap, write } from './testing/hands.ts'
import { DESKTOP, type Journey, test } from './testing/journey.ts'
import { untilPainted } from './testing/layout-shifts.ts'
import { startPost } from './testing/page/compose.ts'
import { recordFrames } from './testing/page/layout.ts'
import { closeByKey } from './testing/page/overlays.ts'
import { reloadUntil } from './testing/page/tab.ts'
import { profileLink, sendNewEmail, signInButton, signInDialog } from './testing/sign-in-actions.ts'

const ANNOUNCED =
  /Регистрация закрыта|стена закр|Стена закр|по приглашениям|Писать пока нельзя|полночь|Перезапустили/

test.afterEach(async ({ journey }) => {
  await setState(journey, 'registrations_closed = NULL, writing_closed = NULL')
  await setState(journey, 'is_invite_only = false, notice = NULL, notice_since = NULL')
  await setState(journey, 'ends_at = NULL, ended = NULL')
  // Pages show the state a second late, also those of the next test.
  await expect.poll(() => servedWall(journey)).not.toMatch(ANNOUNCED)
})

test('texts of the site are linked, and read without scripts', async ({ journey, olga }) => {
  const page = await journey.visit({ javaScriptEnabled: false, waitsForScripts: false })
  for (const name of ['О сайте', 'Правила', 'Персональные данные', 'Контакты']) {
    await tap(page.getByRole('navigation', { name: 'О сайте' }).getByRole('link', { name }))
    await page.getByRole('heading', { level: 1, name }).waitFor()
  }

  const user = await journey.visit({ as: olga, viewport: DESKTOP, path: '/settings' })
  const beside = user.getByRole('complementary', { name: 'О сайте' })
  const contacts = beside.getByRole('link', { name: 'Контакты' })
  await contacts.waitFor()
  // On a wide screen they are not repeated at the foot.
  expect(await user.getByRole('link', { name: 'Контакты' }).count()).toBe(1)
  await tap(contacts)
  await user.getByRole('heading', { level: 1, name: 'Контакты' }).waitFor()
})

test('closed registrations are announced in the header and at sign-in', async ({ journey }) => {
  const reason = 'Разбираем спам, откроем в среду'
  await setState(journey, `registrations_closed = '${reason}'`)
  await expect.poll(() => servedWall(journey)).toContain(reason)
  const page = await journey.visit()
  await page.getByText(`Регистрация закрыта: ${reason}`).waitFor()
  const { dialog, email, proceed } = signInDialog(page)
  const register = async () => {
    await write(email, 'invited@example.org')
    await email.press('Enter')
    await dialog.getByText('пока нет. Зарегистрироваться?').waitFor()
    await tap(proceed)
  }
  await tap(signInButton(page))
  await register()
  await dialog.getByText(`Регистрация закрыта: ${reason}`).waitFor()
  await dialog.getByText('Если у вас есть приглашение').waitFor()
  await tap(dialog.getByRole('button', { name: 'Вернуться' }))
  expect(await email.inputValue()).toBe('invited@example.org')

  await setState(journey, 'registrations_closed = NULL, is_invite_only = true')
  const byInvitation = 'Регистрация по приглашениям'
  await expect.poll(() => servedWall(journey)).toContain(byInvitation)
  await page.goto(journey.url)
  await page.getByText(byInvitation).waitFor()
  await tap(signInButton(page))
  await dialog.getByText('Войдите или зарегистрируйтесь по приглашению').waitFor()
  await register()
  await dialog.getByText(byInvitation).waitFor()
})

test('an expired invitation keeps a valid one that was opened before', async ({ journey }) => {
  await setState(journey, 'is_invite_only = true')
  const [good, over] = ['a-token-that-is-good', 'a-token-that-is-over']
  await journey.rows(
    `INSERT INTO invitations (token_hash, expires_at, uses, uses_left)
     SELECT sha256(token::bytea), now() + interval '1 day', 2, uses_left
     FROM (VALUES ($1, 2), ($2, 0)) invited (token, uses_left)`,
    [good, over],
  )
  const page = await journey.visit({ path: `/invitation#${good}` })
  const { dialog, email } = signInDialog(page)
  await page.getByRole('heading', { name: 'Вас пригласили' }).waitFor()
  await tap(page.getByRole('button', { name: 'Зарегистрироваться' }))
  await email.waitFor()
  await closeByKey(dialog)
  await page.goto(`${journey.url}/invitation#${over}`)
  await page.getByRole('heading', { name: 'Приглашение больше не действует' }).waitFor()
  await page.getByRole('main').getByRole('link', { name: 'На стену' }).waitFor()
  await tap(signInButton(page))
  await sendNewEmail(page, 'invited@example.org')
})

test('closed writing is announced in the header and to its authors', async ({ journey, olga }) => {
  await setState(journey, "writing_closed = 'Переезжаем на другой сервер'")
  const page = await journey.visit({ as: olga })
  const reason = page.getByText('Писать пока нельзя: Переезжаем на другой сервер')
  await reloadUntil(reason)
  await startPost(page)
  await reason.nth(1).waitFor()
})

test('a notice is closed for good, and the next one shows', async ({ journey, olga }) => {
  const notice = (text: string) => setState(journey, `notice = '${text}', notice_since = now()`)
  const shown = (on: Page) => on.locator('[data-notice-id]:visible').allTextContents()

  await notice('В полночь перезапустим сервер')
  await expect.poll(() => servedWall(journey)).toContain('В полночь перезапустим сервер')
  const reader = await journey.visit({ javaScriptEnabled: false, waitsForScripts: false })
  expect(await shown(reader)).toEqual(['В полночь перезапустим серверПонятно'])
  expect(await reader.getByRole('button', { name: 'Понятно' }).isVisible()).toBe(false)
  const page = await journey.visit({ as: olga })
  const line = page.locator('[data-notice-id]:visible')
  await reloadUntil(line.getByText('В полночь перезапустим сервер'))
  await tap(page.getByRole('button', { name: 'Понятно' }))
  await expect.poll(() => shown(page)).toEqual([])

  // Neither the server's HTML nor the app shows it for a moment.
  const flashes = await recordFrames(page, () => {
    const line = document.querySelector('[data-notice-id]')
    return line?.checkVisibility() ? line.textContent : null
  })
  for (const path of ['/', '/settings']) {
    await page.goto(journey.url + path)
    await page.locator('[data-notice-id]').waitFor({ state: 'attached' })
    await profileLink(page).waitFor()
    await untilPainted(page)
    expect(await shown(page)).toEqual([])
    expect(await flashes()).toEqual([])
  }
  await notice('Перезапустили, спасибо за терпение')
  await reloadUntil(line.getByText('Перезапустили, спасибо за терпение'))
  expect(await shown(page)).toEqual(['Перезапустили, спасибо за терпениеПонятно'])
})

function setState(journey: Journey, columns: string): Promise<unknown> {
  return journey.rows(`UPDATE site_state SET ${columns}`)
}

async function servedWall(journey: Journey): Promise<string> {
  return (await fetch(journey.url)).text()
}

test('in its last days a wall says when it ends, and leads to the download', async ({
  journey,
  olga,
}) => {
  await setState(journey, `ends_at = now() + interval '29 days', ended = 'стена закрылась'`)
  const page = await journey.visit({ as: olga })
  const line = page.getByRole('region', { name: 'Закрытие стены' })
  await line
    .getByText(/^Стена закроется \d+\s[а-я]+\s\d{4}: потом её можно будет только читать/)
    .waitFor()
  await tap(line.getByRole('link', { name: 'Скачайте свои записи' }))
  await page.getByText('Скачать мои данные').waitFor()
})
