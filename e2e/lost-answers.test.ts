import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import { newEmail } from '../server/testing/calls/account-fixture.ts'
import { enterDigits, tap, write } from './testing/hands.ts'
import { desktopTest as test } from './testing/journey.ts'
import { untilListedOnce } from './testing/moderation-actions.ts'
import { textField } from './testing/page/compose.ts'
import { chooseFromMenu, postWith } from './testing/page/feed.ts'
import { loseAnswer } from './testing/page/network.ts'
import { dialogOf, toast } from './testing/page/overlays.ts'
import { askForCode, profileLink, signInButton, signInDialog } from './testing/sign-in-actions.ts'

const LOST = { expectedErrors: /ERR_FAILED/ }

const repeat = (page: Page) => page.getByRole('button', { name: 'Повторить' })

/** Types a code whose answer is lost. */
async function typeInVain(page: Page, code: string): Promise<void> {
  await loseAnswer(page, '**/verify')
  await enterDigits(page.getByLabel('Код подтверждения'), code)
  await repeat(page).waitFor()
}

test('a sign-in whose answer was lost is repeated by a press', async ({ journey, olga }) => {
  const page = await journey.visit(LOST)
  await askForCode(page, olga.email)
  await typeInVain(page, await journey.nextCode(olga.email))
  expect(await signInDialog(page).code.inputValue()).toHaveLength(6)
  await tap(repeat(page))
  await profileLink(page).waitFor()
})

test('after a reload the same code signs in', async ({ journey, olga }) => {
  const page = await journey.visit(LOST)
  await askForCode(page, olga.email)
  const code = await journey.nextCode(olga.email)
  await typeInVain(page, code)
  await page.reload()
  await enterDigits(signInDialog(page).code, code)
  await profileLink(page).waitFor()
})

test('a lost change of e-mail is repeated by a press', async ({ journey, olga }) => {
  const page = await journey.visit({ ...LOST, as: olga, path: '/settings/account/email' })
  const email = newEmail()
  await write(page.getByLabel('Электронная почта'), email)
  await tap(page.getByRole('button', { name: 'Продолжить' }))
  await typeInVain(page, await journey.nextCode(email))
  await tap(repeat(page))
  await toast(page, 'Почта изменена').waitFor()
  await page.getByRole('link', { name: `Электронная почта ${email}` }).waitFor()
})

test('a lost deletion of the account is repeated by a press', async ({ journey, olga }) => {
  const page = await journey.visit({ ...LOST, as: olga, path: '/settings/account/delete' })
  await tap(page.getByRole('button', { name: 'Получить код' }))
  await typeInVain(page, await journey.nextCode(olga.email))
  await tap(repeat(page))
  await page.getByRole('status').getByText('Аккаунт удалён. Вернуть его можно до').waitFor()
  await signInButton(page).waitFor()
})

test('a lost deletion of a post is repeated by a press, and says so', async ({ journey, olga }) => {
  const { id } = await journey.publish(olga, 'Зря написано')
  const page = await journey.visit({ ...LOST, as: olga, path: `/posts/${id}` })
  await chooseFromMenu(postWith(page, 'Зря написано'), 'Удалить')
  const dialog = await dialogOf(page, 'Удалить запись?')
  await loseAnswer(page, `**/posts/${id}`)
  await tap(dialog.getByRole('button', { name: 'Удалить', exact: true }))
  await dialog.getByRole('alert').filter({ hasText: /\S/ }).waitFor()
  await tap(dialog.getByRole('button', { name: 'Удалить', exact: true }))
  await toast(page, 'Удалено').waitFor()
})

test('a lost report is repeated by a press, and stands once in the reporter’s list and in the queue', async ({
  journey,
  olga,
  petr,
}) => {
  await journey.publish(petr, 'Спам')
  const page = await journey.visit({ ...LOST, as: olga })
  await profileLink(page).waitFor()
  await chooseFromMenu(postWith(page, 'Спам'), 'Пожаловаться')
  const dialog = await dialogOf(page, 'Пожаловаться')
  await dialog.getByRole('radio').first().check()
  await loseAnswer(page, '**/reports?*')
  await dialog.getByRole('button', { name: 'Отправить' }).click()
  await dialog.getByRole('alert').filter({ hasText: /\S/ }).waitFor()
  await dialog.getByRole('button', { name: 'Отправить' }).click()
  await toast(page, 'Жалоба отправлена').waitFor()
  await untilListedOnce(journey, page)
})

test('a lost edit is repeated by a press', async ({ journey, olga }) => {
  const { id } = await journey.publish(olga, 'С опечаткой')
  const page = await journey.visit({ ...LOST, as: olga, path: `/posts/${id}` })
  await chooseFromMenu(postWith(page, 'С опечаткой'), 'Изменить')
  const dialog = await dialogOf(page, 'Изменение записи')
  await write(textField(dialog), 'Без опечатки')
  await loseAnswer(page, `**/api/v1/posts/${id}`)
  await page.keyboard.press('Control+Enter')
  await toast(page, 'Изменено').waitFor()
  await postWith(page, 'Без опечатки').waitFor()
})
