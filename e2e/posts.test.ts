import { expect } from 'vitest'
import { test } from './testing/journey.ts'
import {
  chooseFromMenu,
  dialogOf,
  holdAnswer,
  loseAnswer,
  postTexts,
  postWith,
  startPost,
  textField,
  toast,
} from './testing/page-actions.ts'

test('Ctrl+Enter publishes once; the post is first on the wall, and «Смотреть» leads to it', async ({
  journey,
  olga,
}) => {
  await journey.publish(olga, 'Прежняя запись')
  const page = await journey.visit({ as: olga })
  await postWith(page, 'Прежняя запись').waitFor()
  const dialog = await startPost(page)
  await textField(dialog).fill('  Первое слово\n\nи второе  ')
  // Even while the dialog of a published text is closing.
  while ((await dialog.count()) > 0) await page.keyboard.press('Control+Enter')
  await toast(page, 'Опубликовано').waitFor()
  expect(await postTexts(page)).toEqual(['Первое слово\n\nи второе', 'Прежняя запись'])
  expect((await journey.call('GET', '/posts')).body.total).toBe(2)
  await page.getByRole('link', { name: 'Смотреть', exact: true }).click()
  await page.getByRole('heading', { name: 'Запись', exact: true }).waitFor()
  await postWith(page, 'Первое слово').waitFor()
})

test('after a refused send the dialog and the text stay, and a lost answer to the next publishes nothing twice', async ({
  journey,
  olga,
}) => {
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

test('one’s own post is no longer offered once its answer comes, nor after it was deleted', async ({
  journey,
  olga,
}) => {
  const page = await journey.visit({ as: olga })
  const letGo = await holdAnswer(page, 'POST', '**/api/v1/posts')
  await textField(await startPost(page)).fill('Ответ придёт позже новости')
  await page.keyboard.press('Control+Enter')
  const offer = page.getByRole('button', { name: 'Показать новые записи' })
  await offer.waitFor()
  letGo()
  const post = postWith(page, 'Ответ придёт позже новости')
  await post.waitFor()
  await offer.waitFor({ state: 'detached' })

  await chooseFromMenu(post, 'Удалить')
  const dialog = await dialogOf(page, 'Удалить запись?')
  await dialog.getByRole('button', { name: 'Удалить' }).click()
  await post.waitFor({ state: 'detached' })
  expect(await offer.count()).toBe(0)
})

test('a post that was missing when its address was opened is on the wall once it is published', async ({
  journey,
  olga,
}) => {
  const last = await journey.publish(olga, 'Последняя')
  const page = await journey.visit({ as: olga, path: `/posts/${Number(last.id) + 1}` })
  await page.getByText('Запись не найдена').waitFor()
  await page.getByRole('button', { name: 'Назад' }).click()
  await postWith(page, 'Последняя').waitFor()

  await textField(await startPost(page)).fill('Следующая за последней')
  await page.keyboard.press('Control+Enter')
  await toast(page, 'Опубликовано').waitFor()
  await postWith(page, 'Следующая за последней').waitFor()
  await page.getByRole('link', { name: 'Смотреть' }).click()
  await page.waitForURL(`**/posts/${Number(last.id) + 1}`)
  await page.getByRole('heading', { name: 'Запись', exact: true }).waitFor()
  await postWith(page, 'Следующая за последней').waitFor()
})
