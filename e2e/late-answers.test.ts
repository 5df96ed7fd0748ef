import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import { journey, olga, test } from './testing/journey.ts'
import { postWith, toast } from './testing/page-actions.ts'
import { profileLink } from './testing/sign-in-actions.ts'

test('a post that was missing when its address was opened is on the wall once it is published', async () => {
  const last = await journey.publish(olga, 'Последняя')
  const page = await journey.visit({ as: olga, path: `/posts/${Number(last.id) + 1}` })
  await page.getByText('Запись не найдена').waitFor()
  await profileLink(page).waitFor()
  await page.getByRole('button', { name: 'Назад' }).click()
  await postWith(page, 'Последняя').waitFor()

  await page.getByRole('button', { name: 'Новая запись' }).click()
  await write(page, 'Новая запись', 'Следующая за последней')
  await toast(page, 'Опубликовано').waitFor()
  await postWith(page, 'Следующая за последней').waitFor()
  await page.getByRole('link', { name: 'Смотреть' }).click()
  await page.waitForURL(`**/posts/${Number(last.id) + 1}`)
  await page.getByRole('heading', { name: 'Запись', exact: true }).waitFor()
  await postWith(page, 'Следующая за последней').waitFor()
})

test('a late response does not overwrite the newer count of replies', async () => {
  const { id } = await journey.publish(olga, 'Сколько нас')
  const page = await journey.visit({ as: olga })
  await postWith(page, 'Сколько нас').waitFor()
  const late = await answerLate(page, `**/api/v1/posts/${id}`)
  await postWith(page, 'Сколько нас').getByText('Сколько нас').click()
  await page.waitForURL(`**/posts/${id}`)
  await late.answered

  const post = page.locator(`[data-post-id="${id}"]`)
  const count = post.getByText('1 ответ', { exact: true })
  await post.getByRole('button', { name: 'Ответить' }).click()
  await write(page, 'Ответ', 'Двое')
  await count.waitFor()
  late.letGo()
  await late.arrived
  expect(await count.count()).toBe(1)
})

async function write(page: Page, dialogName: string, text: string): Promise<void> {
  const dialog = page.getByRole('dialog', { name: dialogName })
  await dialog.getByLabel('Текст записи').fill(text)
  await dialog.getByRole('button', { name: 'Опубликовать' }).click()
  await dialog.waitFor({ state: 'detached' })
}

/**
 * Lets the server answer reads of an address at once, and delivers the responses to the page only
 * on `letGo()`.
 */
async function answerLate(page: Page, address: string) {
  const answered = Promise.withResolvers<void>()
  const gate = Promise.withResolvers<void>()
  const arrived = Promise.withResolvers<void>()
  await page.route(address, async (route) => {
    const response = await route.fetch()
    answered.resolve()
    await gate.promise
    await route.fulfill({ response })
    // Waits until the page could show it.
    await page.evaluate(
      () => new Promise((shown) => setTimeout(() => requestAnimationFrame(shown))),
    )
    arrived.resolve()
  })
  return { answered: answered.promise, arrived: arrived.promise, letGo: gate.resolve }
}
