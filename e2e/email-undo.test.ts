import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import { newEmail } from '../server/testing/calls/account-fixture.ts'
import type { TestUser } from '../server/testing/http/client.ts'
import { tap } from './testing/hands.ts'
import { type Journey, desktopTest as test } from './testing/journey.ts'
import { loseAnswer } from './testing/page/network.ts'
import { openTab } from './testing/page/tab.ts'
import { signInButton } from './testing/sign-in-actions.ts'

test('the mailed link asks, restores the address and signs all out', async ({ journey, olga }) => {
  const thief = await journey.signIn(olga.email)
  const thiefsPage = await journey.visit({ as: thief, path: '/settings' })
  await thiefsPage.getByRole('link', { name: 'Устройства' }).waitFor()
  const link = await move(journey, thief)

  const page = await journey.visit({ as: olga, path: '/settings/devices' })
  // The change has left the owner signed in.
  await page.getByRole('region', { name: 'Текущая сессия' }).waitFor()
  const secondTab = await openTab(page, '/liked')
  await page.goto(link)
  const { heading, giveBack } = undoPage(page)
  await expect.poll(() => heading.textContent()).toBe('Вернуть прежнюю почту?')
  expect(await page.title()).toBe('Возврат почты - Вслух')
  // Programs that check links open them too, so opening the page changes nothing.
  expect(await emailOf(journey, olga)).not.toBe(olga.email)
  await tap(giveBack)
  await expect.poll(() => heading.textContent()).toBe('Прежняя почта возвращена')
  expect(await emailOf(journey, olga)).toBe(olga.email)

  await tap(thiefsPage.getByRole('link', { name: 'Устройства' }))
  for (const tab of [thiefsPage, page, secondTab]) await signInButton(tab).waitFor()
  await secondTab.waitForURL(`${journey.url}/`)
})

test('a taken address and a used or incomplete link are explained', async ({ journey, olga }) => {
  const link = await move(journey, olga)
  const taken = `INSERT INTO users (username, email, email_key) VALUES ('newcomer', $1, $1)`
  await journey.rows(taken, [olga.email])
  const page = await journey.visit()
  await page.goto(link)
  const { heading, main, giveBack } = undoPage(page)
  await tap(giveBack)
  const alert = main.getByRole('alert')
  await alert.getByText(/^С прежней почтой теперь есть другой аккаунт/).waitFor()
  await journey.rows(`DELETE FROM users WHERE username = 'newcomer'`)
  await tap(giveBack)
  await expect.poll(() => heading.textContent()).toBe('Прежняя почта возвращена')

  await journey.rows("UPDATE email_changes SET undone_at = undone_at - interval '3 minutes'")
  await page.reload()
  await tap(giveBack)
  await expect.poll(() => heading.textContent()).toBe('Ссылка больше не действует')
  const advice = alert.filter({ hasText: 'Попробуйте войти с прежней почтой' })
  const contacts = advice.getByRole('link', { name: 'Контакты' })
  expect(await contacts.getAttribute('href')).toBe('/contacts')
  expect(await giveBack.count()).toBe(0)
  await tap(main.getByRole('button', { name: 'Войти' }))
  await page.getByRole('dialog', { name: 'Вход' }).waitFor()

  await page.goto('about:blank')
  await page.goto(link.slice(0, -5))
  await expect.poll(() => heading.textContent()).toBe('Ссылка неполная')
  expect(await giveBack.count()).toBe(0)
  await main.getByRole('link', { name: 'На стену' }).waitFor()
})

test('an undo whose answer was lost is repeated by a press', async ({ journey, olga }) => {
  const link = await move(journey, olga)
  const page = await journey.visit({ expectedErrors: /ERR_FAILED/ })
  await page.goto(link)
  const { heading, main, giveBack } = undoPage(page)
  await loseAnswer(page, '**/undo')
  await tap(giveBack)
  await main.getByRole('alert').getByText('Сервер не отвечает').waitFor()
  await tap(giveBack)
  await expect.poll(() => heading.textContent()).toBe('Прежняя почта возвращена')
})

/** Moves a user to another address by the API; returns the link in the notice to the old one. */
async function move(journey: Journey, user: TestUser): Promise<string> {
  const { token, clientToken } = user
  const email = newEmail()
  const path = '/users/current/email'
  const { id } = (await journey.call('PUT', path, { token, body: { email, clientToken } })).body
  const body = { confirmCode: await journey.nextCode(email), clientToken }
  await journey.call('PUT', `${path}/${id}/verify`, { token, body })
  const { text } = await journey.mailbox.mailAbout(user.email, /Почта аккаунта изменена/)
  return /^http\S+\/email-undo#\S+$/m.exec(text)?.[0] ?? ''
}

async function emailOf(journey: Journey, { id }: TestUser): Promise<string> {
  return (await journey.rows('SELECT email FROM users WHERE id = $1', [id]))[0].email
}

function undoPage(page: Page) {
  const main = page.getByRole('main')
  return {
    main,
    heading: main.getByRole('heading', { level: 1 }),
    giveBack: main.getByRole('button', { name: 'Вернуть прежнюю почту' }),
  }
}
