import { expect } from 'vitest'
import { test } from './testing/journey.ts'
import {
  chooseFromMenu,
  depth,
  openThread,
  postTexts,
  postWith,
  styleOf,
  switchView,
  toast,
} from './testing/page-actions.ts'

test('a deletion asks for confirmation; on the post’s own page it leads to the wall, and a toast shows if the post had already been deleted', async ({
  journey,
  olga,
}) => {
  const other = await journey.publish(olga, 'Удалена в другом окне')
  await journey.publish(olga, 'Удалится')
  const page = await journey.visit({ as: olga })
  const dialog = page.getByRole('dialog', { name: 'Удалить запись?' })
  const remove = dialog.getByRole('button', { name: 'Удалить' })
  await chooseFromMenu(postWith(page, 'Удалится'), 'Удалить')
  expect(await styleOf(remove, 'background-color')).toBe('rgb(194, 51, 76)')
  await dialog.getByRole('button', { name: 'Отмена' }).click()
  await dialog.waitFor({ state: 'detached' })
  expect(await postTexts(page)).toEqual(['Удалится', 'Удалена в другом окне'])

  await openThread(page, 'Удалится')
  await chooseFromMenu(postWith(page, 'Удалится'), 'Удалить')
  await remove.click()
  await page.waitForURL(`${journey.url}/`)
  await toast(page, 'Удалено').waitFor()
  await expect.poll(() => postTexts(page)).toEqual(['Удалена в другом окне'])
  const listWithLikes = page.waitForResponse(/\/api\/v1\/posts\?/)
  await page.reload()
  await listWithLikes
  expect(await postTexts(page)).toEqual(['Удалена в другом окне'])

  await journey.call('DELETE', `/posts/${other.id}`, { token: olga.token })
  await chooseFromMenu(postWith(page, 'Удалена в другом окне'), 'Удалить')
  await remove.click()
  await toast(page, 'Сообщение не найдено').waitFor()
  await expect.poll(() => page.getByRole('article').count()).toBe(0)
})

test('a post that can no longer be edited is deleted and rewritten, and its text is never lost', async ({
  journey,
  olga,
}) => {
  await journey.fillWall(olga, 1, 'Перепишу')
  await journey.sql.query("UPDATE posts SET created_at = created_at - interval '1 hour'")
  const page = await journey.visit({ as: olga })
  let isRefused = true
  await page.route('**/api/v1/posts/*', (route) => {
    if (route.request().method() !== 'DELETE' || !isRefused) return route.continue()
    isRefused = false
    return route.abort()
  })
  await chooseFromMenu(postWith(page, 'Перепишу 1'), 'Удалить и написать заново')
  const dialog = page.getByRole('dialog', { name: 'Удалить запись?' })
  const remove = dialog.getByRole('button', { name: 'Удалить и переписать' })
  await remove.click()
  await dialog.getByRole('alert').waitFor()
  await remove.click()
  const form = page.getByRole('dialog', { name: 'Новая запись' })
  expect(await form.getByRole('textbox').inputValue()).toBe('Перепишу 1')
  await form.getByRole('textbox').fill('Переписал')
  await form.getByRole('button', { name: 'Опубликовать' }).click()
  await form.waitFor({ state: 'detached' })
  await expect.poll(() => postTexts(page)).toEqual(['Переписал'])
})

test('a late deletion shows its failure, and does not navigate after the user has left the page', async ({
  journey,
  olga,
}) => {
  const post = await journey.publish(olga, 'Удаляется долго')
  const page = await journey.visit({ as: olga, path: '/liked' })
  await switchView(page, 'Новые')
  await openThread(page, 'Удаляется долго')
  const answers: ('lost' | 'passed')[] = ['lost', 'passed']
  let gate = Promise.withResolvers<void>()
  await page.route(`**/api/v1/posts/${post.id}`, async (route) => {
    if (route.request().method() !== 'DELETE') return route.continue()
    await gate.promise
    return answers.shift() === 'lost' ? route.abort() : route.continue()
  })
  const dialog = page.getByRole('dialog', { name: 'Удалить запись?' })
  const remove = dialog.getByRole('button', { name: 'Удалить' })
  await chooseFromMenu(postWith(page, 'Удаляется долго'), 'Удалить')
  await remove.click()
  await page.keyboard.press('Escape')
  await dialog.waitFor({ state: 'detached' })
  gate.resolve()
  await toast(page, 'Не удалено. Сервер не отвечает. Попробуйте чуть позже').waitFor()
  gate = Promise.withResolvers()
  await page.getByRole('button', { name: 'Вернуться' }).click()
  await remove.click()
  await page.keyboard.press('Escape')
  await dialog.waitFor({ state: 'detached' })
  // The closed dialog steps back by itself.
  await expect.poll(() => depth(page)).toBe(2)

  await page.goBack()
  await page.goBack()
  await page.waitForURL('**/liked')
  gate.resolve()
  await toast(page, 'Удалено').waitFor()
  expect(new URL(page.url()).pathname).toBe('/liked')
})
