import { expect } from 'vitest'
import { desktopTest as test } from '../../e2e/testing/journey.ts'
import { startPost, textField, untilPreloaded } from '../../e2e/testing/page-actions.ts'

/** The console's message about a lazy chunk that could not be loaded. */
const UNFETCHED = /dynamically imported module|Unable to (?:pre)?load/

test('while the server restarts, failed reads show an error and a text waits; afterwards the user is still signed in, and the text is sent by itself', async ({
  journey,
  olga,
}) => {
  const reader = await journey.visit({ as: olga, expectedErrors: UNFETCHED })
  const writer = await reader.context().newPage()
  await writer.goto(journey.url)
  const dialog = await startPost(writer)
  await textField(dialog).fill('После перезапуска.')
  await reader.getByRole('button', { name: 'Новые' }).click()
  const liked = reader.getByRole('option', { name: 'Понравившиеся' })
  await liked.waitFor()
  await untilPreloaded(reader)

  await journey.product.stop()
  await dialog.getByRole('button', { name: 'Опубликовать' }).click()
  await dialog.getByText('Сервер не отвечает. Текст сохранён, отправим сами').waitFor()
  expect(await dialog.getByRole('alert').textContent()).toBe('')
  await liked.click()
  await reader.getByText('Не получилось загрузить').waitFor()
  await journey.product.start()

  await reader.getByRole('button', { name: 'Повторить' }).click()
  await reader.getByText('Записи не найдены').waitFor()
  await writer.getByRole('status').getByText('Опубликовано').waitFor()
  await writer.getByRole('article').filter({ hasText: 'После перезапуска.' }).waitFor()
  const rows = await journey.rows("SELECT FROM posts WHERE text = 'После перезапуска.'")
  expect(rows).toHaveLength(1)
})
