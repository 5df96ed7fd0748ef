import type { Page } from 'playwright-core'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import type { TestUser } from '../server/testing/client.ts'
import { DESKTOP, type Journey, PHONE, startJourney } from './testing/journey.ts'
import { chooseFromMenu, postWith, startPost, textField, toast } from './testing/page-actions.ts'

let journey: Journey
let olga: TestUser
beforeAll(async () => {
  journey = await startJourney()
  olga = await journey.signUp()
})
afterAll(() => journey?.close())
beforeEach(() => journey.emptyWall())

test.each([PHONE, DESKTOP])(
  'a toast over an open dialog can be tapped: «Смотреть» closes the dialog, keeps its text and opens the post, at $width px',
  async (viewport) => {
    const page = await journey.visit({
      as: olga,
      viewport,
      before: (it) => it.clock.install(),
    })
    await publish(page, 'Уже на стене')
    await toast(page, 'Опубликовано').waitFor()
    await page.clock.pauseAt((await page.evaluate(() => Date.now())) + 100)
    const dialog = await startPost(page)
    await textField(dialog).fill('Ещё не на стене')
    expect(await dialog.getByRole('status').getByText('Опубликовано').count()).toBe(1)
    await page.getByRole('link', { name: 'Смотреть' }).click()
    await page.waitForURL('**/posts/*')
    await page.clock.resume()
    await dialog.waitFor({ state: 'detached' })
    await page.getByRole('heading', { name: 'Ответы' }).waitFor()
    expect(await textField(await startPost(page)).inputValue()).toBe('Ещё не на стене')
  },
)

test('a toast says what was done last about the same: a draft that is published, another post, an edit that is deleted', async () => {
  const page = await journey.visit({ as: olga })
  const dialog = await startPost(page)
  await textField(dialog).fill('Сначала черновик')
  await page.keyboard.press('Escape')
  await toast(page, 'Черновик сохранён').waitFor()
  await publish(page, 'Сначала черновик')
  expect(await toast(page, 'Опубликовано').count()).toBe(1)

  await publish(page, 'Потом вторая')
  const id = await postWith(page, 'Потом вторая').getAttribute('data-post-id')
  expect(await page.getByRole('link', { name: 'Смотреть' }).getAttribute('href')).toBe(
    `/posts/${id}`,
  )

  await chooseFromMenu(postWith(page, 'Потом вторая'), 'Изменить')
  await page.getByLabel('Текст записи').fill('Потом исправленная')
  await page.keyboard.press('Control+Enter')
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  expect(await toast(page, 'Изменено').count()).toBe(1)
  await chooseFromMenu(postWith(page, 'Потом исправленная'), 'Удалить')
  await page.getByRole('dialog').getByRole('button', { name: 'Удалить' }).click()
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  expect(await toast(page, 'Удалено').count()).toBe(1)
})

/** Publishes a text and waits until its dialog is closed. */
async function publish(page: Page, text: string): Promise<void> {
  const dialog = await startPost(page)
  await textField(dialog).fill(text)
  await page.keyboard.press('Control+Enter')
  await dialog.waitFor({ state: 'detached' })
}
