import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import { desktopTest as test } from './testing/journey.ts'
import {
  chooseFromMenu,
  openTab,
  postWith,
  refuseNews,
  refuseOnce,
  startPost,
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

test('a pending username is not given to another user who has signed in meanwhile', async ({
  journey,
}) => {
  const [vera, petr] = [await journey.signUp(), await journey.signUp()]
  const path = '/settings/account/username'
  const page = await journey.visit({ as: vera, path, before: (it) => it.clock.install() })
  await refuseOnce(page, '**/users/current/profile', 'Имя меняют не чаще раза в минуту', 28)
  await page.getByLabel('Имя пользователя').fill('vera_novaya')
  await page.getByText('Имя пользователя свободно').waitFor()
  await page.getByRole('button', { name: 'Сохранить' }).click()
  await toast(page, 'Имя меняют не чаще раза в минуту. Отправим через 0:28').waitFor()
  await changeUserInOtherTab(journey, page, { former: vera, next: petr })
  const refused = page.waitForResponse('**/users/current/profile')
  await page.clock.runFor(30_000)
  expect((await refused).status()).toBe(409)
  const names = () => journey.rows('SELECT username FROM users WHERE id = $1', [petr.id])
  expect(await names()).toEqual([{ username: petr.username }])
})

test.for([
  ['/settings/account/email', 'Электронная почта'],
  ['/settings/account/delete', 'Получить код'],
] as const)(
  'a form that waits for a code begins anew for another user who has signed in meanwhile: %s',
  async ([path, begin], { journey }) => {
    const [vera, petr] = [await journey.signUp(), await journey.signUp()]
    const page = await journey.visit({ as: vera, path })
    const main = page.getByRole('main')
    const first = main.getByLabel(begin).or(main.getByRole('button', { name: begin }))
    if (path.endsWith('email')) await first.fill('vera-tajno@example.org')
    await first.press('Enter')
    await main.getByLabel('Код подтверждения').waitFor()
    await changeUserInOtherTab(journey, page, { former: vera, next: petr })
    await first.waitFor()
    expect(await main.getByText(/vera/).count()).toBe(0)
  },
)

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

const report = (page: Page) => chooseFromMenu(postWith(page, 'Чужое'), 'Пожаловаться')
const remove = (page: Page) => chooseFromMenu(postWith(page, 'Своё'), 'Удалить')
const closeOthers = (page: Page) =>
  page.getByRole('button', { name: 'Завершить другие сессии' }).click()

test.for([
  ['/', 'Пожаловаться', report],
  ['/', 'Удалить запись?', remove],
  ['/', 'Новая запись', startPost],
  ['/settings/devices', 'Завершить другие сессии?', closeOthers],
] as const)(
  'an open dialog closes when its user logs out in another tab: %s «%s»',
  async ([path, name, open], { journey }) => {
    const vera = await journey.signUp()
    await journey.signIn(vera.email)
    await journey.publish(vera, 'Своё')
    await journey.publish(await journey.signUp(), 'Чужое')
    const page = await journey.visit({ as: vera, path })
    await open(page)
    const dialog = page.getByRole('dialog')
    await page.getByRole('dialog', { name }).waitFor()
    const other = await openTab(page, '/settings')
    await other.getByRole('button', { name: 'Выйти' }).click()
    await signInButton(page).waitFor()
    await dialog.waitFor({ state: 'detached' })
    // Nor does the step back reach a page for users, which would ask to sign in.
    await page.waitForURL(`${journey.url}/`)
    await postWith(page, 'Чужое').waitFor()
    expect(await dialog.count()).toBe(0)
  },
)

test('an open dialog that would act for another user who has signed in meanwhile closes', async ({
  journey,
}) => {
  const [vera, petr] = [await journey.signUp(), await journey.signUp()]
  await journey.signIn(vera.email)
  const page = await journey.visit({ as: vera, path: '/settings/devices' })
  await closeOthers(page)
  const dialog = page.getByRole('dialog', { name: 'Завершить другие сессии?' })
  await dialog.waitFor()
  await page.reload()
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
