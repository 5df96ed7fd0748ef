import { expect } from 'vitest'
import { desktopTest as test } from './testing/journey.ts'
import {
  chooseFromMenu,
  dialogOf,
  openTab,
  postWith,
  refuseNews,
  refuseOnce,
  toast,
} from './testing/page-actions.ts'
import {
  changeUserInOtherTab,
  profileLink,
  signInButton,
  signInDialog,
  signInElsewhere,
  signInThrough,
} from './testing/sign-in-actions.ts'

test('no pending like or open dialog passes to the next user', async ({ journey, olga, petr }) => {
  await journey.publish(olga, 'Чужая отметка')
  const vera = await journey.signUp()
  const page = await journey.visit({ as: vera, before: (it) => it.clock.install() })
  await refuseOnce(page, '**/likes', 'Не больше 300 отметок в сутки. Попробуйте позже', 28)
  const post = postWith(page, 'Чужая отметка')
  const heart = post.getByRole('button', { name: 'Нравится' })
  await heart.click()
  await toast(page, 'Не больше 300 отметок в сутки. Отправим через 0:28').waitFor()
  expect(await heart.getAttribute('aria-pressed')).toBe('true')
  await chooseFromMenu(post, 'Пожаловаться')
  const dialog = await dialogOf(page, 'Пожаловаться')
  await changeUserInOtherTab(journey, page, { former: vera, next: petr })
  await dialog.waitFor({ state: 'detached' })
  await expect.poll(() => heart.getAttribute('aria-pressed')).toBe('false')
  await page.clock.runFor(30_000)
  // Petr's own like arrives after Vera's would have arrived.
  await heart.click()
  const likes = () => journey.rows('SELECT user_id FROM likes')
  await expect.poll(likes).toEqual([{ user_id: petr.id }])
})

test('a form that waits for a code ends with its user', async ({ journey, olga, petr }) => {
  const page = await journey.visit({ as: olga, path: '/settings/account/email' })
  const main = page.getByRole('main')
  const address = main.getByLabel('Электронная почта')
  await address.fill('olga-tajno@example.org')
  await address.press('Enter')
  await main.getByLabel('Код подтверждения').waitFor()
  await changeUserInOtherTab(journey, page, { former: olga, next: petr })
  await address.waitFor()
  expect(await main.getByText(/olga/).count()).toBe(0)
})

test('a page that the browser restores is the next user’s', async ({ journey, olga, petr }) => {
  await journey.publish(olga, 'Запись Ольги')
  const page = await journey.visit({ as: olga, path: '/own/posts' })
  await postWith(page, 'Запись Ольги').waitFor()
  const other = await signInElsewhere(journey, page, { former: olga, next: petr })
  await profileLink(other).waitFor()
  await page.evaluate(() => dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true })))
  await page.getByRole('link', { name: `Профиль ${petr.username}` }).waitFor()
  await postWith(page, 'Запись Ольги').waitFor({ state: 'detached' })
})

test('an open dialog closes when its user logs out in another tab', async ({ journey, olga }) => {
  await journey.publish(olga, 'Своё')
  const page = await journey.visit({ as: olga, path: '/own/posts' })
  await chooseFromMenu(postWith(page, 'Своё'), 'Удалить')
  const dialog = await dialogOf(page, 'Удалить запись?')
  const other = await openTab(page, '/settings')
  await other.getByRole('button', { name: 'Выйти' }).click()
  await signInButton(page).waitFor()
  await dialog.waitFor({ state: 'detached' })
  // Nor does the step back reach a page for users, which would ask to sign in.
  await page.waitForURL(`${journey.url}/`)
  await postWith(page, 'Своё').waitFor()
  expect(await page.getByRole('dialog').count()).toBe(0)
})

test('a sign-in in another tab ends the dialog and its intent', async ({ journey, olga, petr }) => {
  await journey.publish(olga, 'Ещё не отмечено')
  const page = await journey.visit({ before: refuseNews })
  const heart = postWith(page, 'Ещё не отмечено').getByRole('button', { name: 'Нравится' })
  await heart.click()
  const { dialog, email } = signInDialog(page)
  await email.waitFor()
  const other = await page.context().newPage()
  await other.goto(journey.url)
  await signInButton(other).click()
  await signInThrough(journey, other, petr.email)
  await dialog.waitFor({ state: 'detached' })
  await page.reload({ waitUntil: 'networkidle' })
  await page.getByRole('link', { name: `Профиль ${petr.username}` }).waitFor()
  expect(await dialog.count()).toBe(0)
  expect(await journey.rows('SELECT FROM likes')).toEqual([])
})
