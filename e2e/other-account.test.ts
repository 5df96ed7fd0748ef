import { expect } from 'vitest'
import { desktopTest as test } from './testing/journey.ts'
import {
  chooseFromMenu,
  openTab,
  postWith,
  refuseNews,
  refuseOnce,
  toast,
} from './testing/page-actions.ts'
import {
  askForCode,
  changeUserInOtherTab,
  enterCode,
  profileLink,
  signInButton,
  signInDialog,
  signInElsewhere,
} from './testing/sign-in-actions.ts'

test('a pending like is neither sent for nor shown to another user who has signed in meanwhile', async ({
  journey,
}) => {
  const [vera, petr] = [await journey.signUp(), await journey.signUp()]
  await journey.publish(await journey.signUp(), 'Чужая отметка')
  const page = await journey.visit({ as: vera, before: (it) => it.clock.install() })
  await refuseOnce(page, '**/likes', 'Не больше 300 отметок в сутки. Попробуйте позже', 28)
  const heart = postWith(page, 'Чужая отметка').getByRole('button', { name: 'Нравится' })
  await heart.click()
  await toast(page, 'Не больше 300 отметок в сутки. Отправим через 0:28').waitFor()
  await changeUserInOtherTab(journey, page, { former: vera, next: petr })
  await expect.poll(() => heart.getAttribute('aria-pressed')).toBe('false')
  await page.clock.runFor(30_000)
  // Petr's own like arrives after Vera's would have arrived.
  await heart.click()
  const likes = () => journey.rows('SELECT user_id FROM likes')
  await expect.poll(likes).toEqual([{ user_id: petr.id }])
})

test('a form that waits for a code begins anew for another user who has signed in meanwhile', async ({
  journey,
}) => {
  const [vera, petr] = [await journey.signUp(), await journey.signUp()]
  const page = await journey.visit({ as: vera, path: '/settings/account/email' })
  const main = page.getByRole('main')
  const address = main.getByLabel('Электронная почта')
  await address.fill('vera-tajno@example.org')
  await address.press('Enter')
  await main.getByLabel('Код подтверждения').waitFor()
  await changeUserInOtherTab(journey, page, { former: vera, next: petr })
  await address.waitFor()
  expect(await main.getByText(/vera/).count()).toBe(0)
})

test('a page that the browser restores is that of the user who has signed in meanwhile', async ({
  journey,
}) => {
  const [vera, petr] = [await journey.signUp(), await journey.signUp()]
  await journey.publish(vera, 'Запись Веры')
  const page = await journey.visit({ as: vera, path: '/own/posts' })
  await postWith(page, 'Запись Веры').waitFor()
  const other = await signInElsewhere(journey, page, { former: vera, next: petr })
  await profileLink(other).waitFor()
  await page.evaluate(() => dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true })))
  await page.getByRole('link', { name: `Профиль ${petr.username}` }).waitFor()
  await postWith(page, 'Запись Веры').waitFor({ state: 'detached' })
})

test('an open dialog closes when its user logs out in another tab', async ({ journey }) => {
  const vera = await journey.signUp()
  await journey.publish(vera, 'Своё')
  const page = await journey.visit({ as: vera, path: '/own/posts' })
  await chooseFromMenu(postWith(page, 'Своё'), 'Удалить')
  const dialog = page.getByRole('dialog')
  await dialog.waitFor()
  const other = await openTab(page, '/settings')
  await other.getByRole('button', { name: 'Выйти' }).click()
  await signInButton(page).waitFor()
  await dialog.waitFor({ state: 'detached' })
  // Nor does the step back reach a page for users, which would ask to sign in.
  await page.waitForURL(`${journey.url}/`)
  await postWith(page, 'Своё').waitFor()
  expect(await dialog.count()).toBe(0)
})

test('an open dialog that would act for another user who has signed in meanwhile closes', async ({
  journey,
}) => {
  const [vera, petr] = [await journey.signUp(), await journey.signUp()]
  await journey.signIn(vera.email)
  const page = await journey.visit({ as: vera, path: '/settings/devices' })
  await page.getByRole('button', { name: 'Завершить другие сессии' }).click()
  const dialog = page.getByRole('dialog', { name: 'Завершить другие сессии?' })
  await dialog.waitFor()
  await changeUserInOtherTab(journey, page, { former: vera, next: petr })
  await dialog.waitFor({ state: 'detached' })
})

test('the sign-in dialog closes when a user signs in in another tab, and its intent is dropped', async ({
  journey,
}) => {
  const vera = await journey.signUp()
  await journey.publish(await journey.signUp(), 'Ещё не отмечено')
  const page = await journey.visit({ before: refuseNews })
  const heart = postWith(page, 'Ещё не отмечено').getByRole('button', { name: 'Нравится' })
  await heart.click()
  const { dialog, email } = signInDialog(page)
  await email.waitFor()
  const other = await page.context().newPage()
  await other.goto(journey.url)
  await askForCode(other, vera.email)
  await enterCode(other, await journey.nextCode(vera.email))
  await dialog.waitFor({ state: 'detached' })
  await page.reload()
  await page.getByRole('link', { name: `Профиль ${vera.username}` }).waitFor()
  await page.waitForLoadState('networkidle')
  expect(await dialog.count()).toBe(0)
  expect(await journey.rows('SELECT FROM likes')).toEqual([])
})
