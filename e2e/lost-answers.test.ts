import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import { enterDigits, tap } from './testing/hands.ts'
import { desktopTest as test } from './testing/journey.ts'
import { untilListedOnce } from './testing/moderation-actions.ts'
import { chooseFromMenu, postWith } from './testing/page/feed.ts'
import { loseAnswer } from './testing/page/network.ts'
import { dialogOf, toast } from './testing/page/overlays.ts'
import { askForCode, profileLink, signInDialog } from './testing/sign-in-actions.ts'

/** trials/lost-answers loses the other answers. */
const LOST = { expectedErrors: /ERR_FAILED/ }

const repeat = (page: Page) => page.getByRole('button', { name: 'Повторить' })

/** Types a code whose answer is lost. */
async function typeInVain(page: Page, code: string): Promise<void> {
  await loseAnswer(page, '**/verify')
  await enterDigits(page.getByLabel('Код подтверждения'), code)
  await repeat(page).waitFor()
}

test('after a reload the same code signs in', async ({ journey, olga }) => {
  const page = await journey.visit(LOST)
  await askForCode(page, olga.email)
  const code = await journey.nextCode(olga.email)
  await typeInVain(page, code)
  await page.reload()
  await enterDigits(signInDialog(page).code, code)
  await profileLink(page).waitFor()
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

test('who logs out again, because no answer came, is told that they are out', async ({
  journey,
  olga,
}) => {
  const expectedErrors = /ERR_FAILED|^401 /
  const page = await journey.visit({ as: olga, path: '/settings', expectedErrors })
  const logOut = page.getByRole('button', { name: 'Выйти' })
  await loseAnswer(page, '**/sessions/current')
  await tap(logOut)
  await toast(page, 'Сервер не отвечает. Попробуйте чуть позже').waitFor()
  await tap(logOut)
  await toast(page, 'Вы вышли').waitFor()
  await toast(page, 'Вы вышли').waitFor({ state: 'detached' })
  expect(await page.getByRole('status').getByText('Сессия завершена').count()).toBe(0)
})
