import { expect } from 'vitest'
import { test } from './testing/journey.ts'
import {
  chooseFromMenu,
  dialogOf,
  holdAnswer,
  postTexts,
  postWith,
  startPost,
  submitPost,
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

test('one’s own post is no longer offered once its answer comes, nor after it was deleted', async ({
  journey,
  olga,
}) => {
  const page = await journey.visit({ as: olga })
  const letGo = await holdAnswer(page, 'POST', '**/api/v1/posts')
  await submitPost(page, 'Ответ придёт позже новости')
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
