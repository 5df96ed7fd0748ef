import type { Locator, Page } from 'playwright-core'
import { beforeEach, expect } from 'vitest'
import { journey, olga, desktopTest as test } from './testing/journey.ts'
import {
  chooseFromMenu,
  holdCalls,
  postWith,
  startPost,
  textField,
  toast,
} from './testing/page-actions.ts'
import {
  changeUserInOtherTab,
  endSessions,
  profileLink,
  signInThrough,
} from './testing/sign-in-actions.ts'

const PUBLICATION = '**/api/v1/posts'

beforeEach(async () => {
  await journey.publish(olga, 'На что отвечают')
})

test('a dialog that was closed while sending does not affect the next one', async () => {
  const page = await journey.visit({ as: olga })
  const held = await sendAndClose(page, 'Долго в пути')
  await postWith(page, 'На что отвечают').getByRole('button', { name: 'Ответить' }).click()
  const reply = page.getByRole('dialog', { name: 'Ответ' })
  await textField(reply).fill('Пока пишу')
  held.letGo()
  await toast(page, 'Опубликовано').waitFor()
  await postWith(page, 'Долго в пути').waitFor()
  expect(await textField(reply).inputValue()).toBe('Пока пишу')
})

test('a post that is written while another one is being sent is not lost when that one is published', async () => {
  const page = await journey.visit({ as: olga })
  const held = await sendAndClose(page, 'Первая из двух')
  const dialog = await startPost(page)
  expect(await textField(dialog).inputValue()).toBe('Первая из двух')
  await textField(dialog).fill('Вторая из двух')
  held.letGo()
  await toast(page, 'Опубликовано').waitFor()
  expect(await textField(dialog).inputValue()).toBe('Вторая из двух')
  await page.reload()
  await dialog.waitFor()
  expect(await textField(dialog).inputValue()).toBe('Вторая из двух')
})

test('a dialog that is reopened with a text that is being sent closes when the text is published', async () => {
  const page = await journey.visit({ as: olga })
  const held = await sendAndClose(page, 'Только однажды')
  const dialog = await startPost(page)
  expect(await textField(dialog).inputValue()).toBe('Только однажды')
  held.letGo()
  await dialog.waitFor({ state: 'detached' })
  await startPost(page)
  expect(await textField(dialog).inputValue()).toBe('')
})

test('when sending fails after the dialog was closed, a toast says so and leads back to the text', async () => {
  const page = await journey.visit({ as: olga })
  const gate = Promise.withResolvers<void>()
  await page.route(PUBLICATION, async (route) => {
    await gate.promise
    await route.fulfill({ status: 500 })
  })
  const dialog = await startPost(page)
  await textField(dialog).fill('Не дошло')
  await close(page, dialog)
  gate.resolve()
  await toast(page, 'Не отправлено. Что-то сломалось. Попробуйте ещё раз').waitFor()
  await page.getByRole('button', { name: 'Вернуться' }).click()
  await dialog.waitFor()
  expect(await textField(dialog).inputValue()).toBe('Не дошло')
})

test('a text that waits is not sent once somebody else has signed in, and stays for its author', async () => {
  const [vera, petr] = [await journey.signUp(), await journey.signUp()]
  const page = await journey.visit({ as: vera })
  const dialog = await startPost(page)
  await textField(dialog).fill('Пишет Вера')
  await page.route(PUBLICATION, (route) => route.abort())
  await page.keyboard.press('Control+Enter')
  await dialog.getByText('Текст сохранён, отправим сами').waitFor()

  await changeUserInOtherTab(journey, page, { former: vera, next: petr })
  await page.unroute(PUBLICATION)
  const refused = dialog.getByRole('alert').getByText('Это начато в другом аккаунте')
  await refused.waitFor()
  expect(await journey.rows("SELECT FROM posts WHERE text = 'Пишет Вера'")).toEqual([])
  const drafts = await page.evaluate(() => JSON.stringify({ ...localStorage }))
  expect(drafts).toContain(`"draft ${vera.id} new`)
})

test.each(['/', '/own/posts'])(
  'when the session ends while a user writes at %s, the dialog stays, and signing in from it restores the whole text',
  async (path) => {
    const vera = await journey.signUp()
    const page = await journey.visit({ as: vera, path })
    const dialog = await startPost(page)
    await textField(dialog).fill('Важная мысль')
    await endSessions(journey, vera)
    await page.keyboard.press('Control+Enter')
    await dialog.getByRole('alert').getByText('Войдите, чтобы продолжить').waitFor()
    await profileLink(page).waitFor({ state: 'detached' })
    await textField(dialog).fill('Важная мысль, и ещё одна')
    await page.keyboard.press('Control+Enter')
    await dialog.getByRole('button', { name: 'Войти' }).click()

    await signInThrough(journey, page, vera.email)
    await dialog.waitFor()
    expect(await textField(dialog).inputValue()).toBe('Важная мысль, и ещё одна')
    await page.keyboard.press('Control+Enter')
    await postWith(page, 'Важная мысль, и ещё одна').waitFor()
  },
)

test('when the session ends while a user edits a post, the dialog stays, and signing in restores it', async () => {
  const vera = await journey.signUp()
  await journey.publish(vera, 'Было опечтано')
  const page = await journey.visit({ as: vera })
  await chooseFromMenu(postWith(page, 'Было опечтано'), 'Изменить')
  const dialog = page.getByRole('dialog', { name: 'Изменение записи' })
  await textField(dialog).fill('Было опечатано')
  await endSessions(journey, vera)
  await page.keyboard.press('Control+Enter')
  await dialog.getByRole('alert').getByText('Войдите, чтобы продолжить').waitFor()
  await dialog.getByRole('button', { name: 'Войти' }).click()

  await signInThrough(journey, page, vera.email)
  await dialog.waitFor()
  expect(await textField(dialog).inputValue()).toBe('Было опечатано')
  await page.keyboard.press('Control+Enter')
  await toast(page, 'Изменено').waitFor()
})

/** Sends a new post, which the network holds back, and closes its dialog meanwhile. */
async function sendAndClose(page: Page, typed: string) {
  const held = await holdCalls(page, PUBLICATION)
  const dialog = await startPost(page)
  await textField(dialog).fill(typed)
  await close(page, dialog)
  await held.asked
  return held
}

async function close(page: Page, dialog: Locator): Promise<void> {
  await page.keyboard.press('Control+Enter')
  await page.keyboard.press('Escape')
  await dialog.waitFor({ state: 'detached' })
}
