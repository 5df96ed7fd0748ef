import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import { newEmail } from '../server/testing/account-fixture.ts'
import type { TestUser } from '../server/testing/client.ts'
import { type Journey, desktopTest as test } from './testing/journey.ts'
import { goOffline, goOnline, openTab } from './testing/page-actions.ts'
import { signInButton } from './testing/sign-in-actions.ts'

const OFFLINE = 'Нет связи. Проверьте интернет и повторите'

test('a stolen account: the thief’s change leaves the owner signed in, the mailed link restores the address and ends all sessions in every tab', async ({
  journey,
}) => {
  const owner = await journey.signUp()
  const thief = await journey.signIn(owner.email)
  const ownersPage = await journey.visit({ as: owner, path: '/settings' })
  await ownersPage.getByRole('link', { name: 'Устройства' }).waitFor()
  const thiefsPage = await journey.visit({ as: thief, path: '/settings' })
  await thiefsPage.getByRole('link', { name: 'Устройства' }).waitFor()
  const link = await move(journey, thief)

  await ownersPage.getByRole('link', { name: 'Устройства' }).click()
  await ownersPage.getByRole('region', { name: 'Текущая сессия' }).waitFor()
  expect(link.startsWith(`${journey.url}/`)).toBe(true)
  const secondTab = await openTab(ownersPage, '/liked')
  await ownersPage.goto(link)
  const { heading, giveBack } = undoPage(ownersPage)
  await expect.poll(() => heading.textContent()).toBe('Вернуть прежнюю почту?')
  expect(await ownersPage.title()).toBe('Возврат почты - Вслух')
  // Programs that check links open them too, so opening the page changes nothing.
  expect(await emailOf(journey, owner)).not.toBe(owner.email)
  await giveBack.click()
  await expect.poll(() => heading.textContent()).toBe('Прежняя почта возвращена')
  expect(await emailOf(journey, owner)).toBe(owner.email)

  await thiefsPage.getByRole('link', { name: 'Устройства' }).click()
  await signInButton(thiefsPage).waitFor()
  await signInButton(ownersPage).waitFor()
  await secondTab.waitForURL(`${journey.url}/`)
  await signInButton(secondTab).waitFor()
})

test('the undo page explains a missing network, a taken address, and a used or incomplete link', async ({
  journey,
}) => {
  const user = await journey.signUp()
  const link = await move(journey, user)
  await journey.rows(`INSERT INTO users (username, email, email_key) VALUES ('newcomer', $1, $1)`, [
    user.email,
  ])
  const page = await journey.visit()
  await page.goto(link)
  const { heading, main, giveBack, signIn } = undoPage(page)
  await giveBack.waitFor()
  await goOffline(page)
  await giveBack.click()
  await expect.poll(() => main.getByRole('alert').textContent()).toBe(OFFLINE)
  await goOnline(page)
  await giveBack.click()
  const taken = main.getByRole('alert').getByText(/^С прежней почтой теперь есть другой аккаунт/)
  await taken.waitFor()
  await journey.rows(`DELETE FROM users WHERE username = 'newcomer'`)
  await giveBack.click()
  await expect.poll(() => heading.textContent()).toBe('Прежняя почта возвращена')

  await page.reload()
  await giveBack.click()
  await expect.poll(() => heading.textContent()).toBe('Ссылка больше не действует')
  const advice = main.getByRole('alert').filter({ hasText: 'Попробуйте войти с прежней почтой' })
  expect(await advice.getByRole('link', { name: 'Контакты' }).getAttribute('href')).toBe(
    '/contacts',
  )
  expect(await giveBack.count()).toBe(0)
  await signIn.click()
  await page.getByRole('dialog', { name: 'Вход' }).waitFor()

  for (const cut of [link.slice(0, -5), link.replace(/#.*/, '')]) {
    await page.goto('about:blank')
    await page.goto(cut)
    await expect.poll(() => heading.textContent()).toBe('Ссылка неполная')
    expect(await giveBack.count()).toBe(0)
    await main.getByRole('link', { name: 'На стену' }).waitFor()
  }
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
    signIn: main.getByRole('button', { name: 'Войти' }),
  }
}
