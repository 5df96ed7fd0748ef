import { expect } from 'vitest'
import { journey, olga, test } from './testing/journey.ts'
import {
  loseAnswer,
  postTexts,
  postWith,
  startPost,
  styleOf,
  textField,
  toast,
} from './testing/page-actions.ts'

test('a text that is empty or too long cannot be published, and the counter turns red', async () => {
  const page = await journey.visit({ as: olga })
  const dialog = await startPost(page)
  const publish = dialog.getByRole('button', { name: 'Опубликовать' })
  const counter = dialog.locator('footer [aria-hidden=true]').getByText(/^−?\d+$/)
  await textField(dialog).fill('  \n ')
  expect(await publish.isDisabled()).toBe(true)
  await textField(dialog).fill(`${'👩'.repeat(500)}`)
  expect(await counter.innerText()).toBe('0')
  expect(await publish.isEnabled()).toBe(true)
  await textField(dialog).fill('я'.repeat(501))
  expect(await counter.innerText()).toBe('−1')
  const [red = 0, green = 0, blue = 0] =
    (await styleOf(counter, 'color')).match(/\d+/g)?.map(Number) ?? []
  expect(red).toBeGreaterThan(Math.max(green, blue) + 60)
  expect(await publish.isDisabled()).toBe(true)
  await page.keyboard.press('Control+Enter')
  expect(await journey.call('GET', '/posts')).toMatchObject({ body: { total: 0 } })
})

test('Ctrl+Enter publishes once; the post is first on the wall, and «Смотреть» leads to it', async () => {
  await journey.publish(olga, 'Прежняя запись')
  const page = await journey.visit({ as: olga })
  await postWith(page, 'Прежняя запись').waitFor()
  const dialog = await startPost(page)
  await textField(dialog).fill('  Первое слово\n\nи второе  ')
  // Also while the dialog of a published text is closing.
  while ((await dialog.count()) > 0) await page.keyboard.press('Control+Enter')
  await toast(page, 'Опубликовано').waitFor()
  expect(await postTexts(page)).toEqual(['Первое слово\n\nи второе', 'Прежняя запись'])
  expect((await journey.call('GET', '/posts')).body.total).toBe(2)
  await page.getByRole('link', { name: 'Смотреть' }).click()
  await page.waitForURL('**/posts/*')
  await postWith(page, 'Первое слово').waitFor()
})

test('after a refused send the dialog and the text stay, and a lost answer to the next publishes nothing twice', async () => {
  const page = await journey.visit({ as: olga })
  const dialog = await startPost(page)
  const publish = dialog.getByRole('button', { name: 'Опубликовать' })
  await textField(dialog).fill('Дойдёт со второго раза')

  await page.route('**/api/v1/posts', (route) =>
    route.fulfill({
      status: 429,
      headers: { 'retry-after': '7000' },
      json: { code: 'TOO_MANY_REQUESTS', message: 'Слишком часто. Повторите через 2 часа' },
    }),
  )
  await publish.click()
  await dialog.getByRole('alert').getByText('Слишком часто. Повторите через 2 часа').waitFor()
  expect(await textField(dialog).inputValue()).toBe('Дойдёт со второго раза')
  await page.unroute('**/api/v1/posts')

  await loseAnswer(page, 'POST', '**/api/v1/posts')
  await publish.click()
  await dialog.waitFor({ state: 'detached' })
  await toast(page, 'Опубликовано').waitFor()
  expect((await journey.call('GET', '/posts')).body.total).toBe(1)
  expect(await postTexts(page)).toEqual(['Дойдёт со второго раза'])
})
