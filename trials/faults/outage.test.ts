import { afterAll, expect } from 'vitest'
import { testWith } from '../../e2e/testing/journey.ts'
import { postWith } from '../../e2e/testing/page-actions.ts'
import { openPostgresProxy } from '../../server/testing/postgres-proxy.ts'

let database: Awaited<ReturnType<typeof openPostgresProxy>>
const test = testWith({}, async (url) => {
  database = await openPostgresProxy(url)
  return database.url
})
afterAll(() => database?.close())
test.beforeEach(async ({ journey, olga }) => void (await journey.publish(olga, 'Сказано раньше.')))

test('while the database is away, a visitor reads the saved wall with a notice, and a new post is kept and sent once it is back', async ({
  journey,
  olga,
}) => {
  const reader = await journey.visit({ expectedErrors: /^503 / })
  await postWith(reader, 'Сказано раньше.').waitFor()
  const writer = await journey.visit({ as: olga, expectedErrors: /^503 / })
  await writer.getByRole('button', { name: 'Новая запись' }).click()
  const dialog = writer.getByRole('dialog', { name: 'Новая запись' })
  const field = dialog.getByLabel('Текст записи')
  await field.fill('Сказано в тишине.')

  database.cut()
  const banner = reader.getByText('Показана сохранённая версия')
  expect(await banner.count()).toBe(0)
  await expect.poll(async () => (await fetch(journey.url)).headers.has('age')).toBe(true)
  await reader.reload()
  await banner.waitFor()
  await postWith(reader, 'Сказано раньше.').waitFor()

  const send = dialog.getByRole('button', { name: 'Опубликовать' })
  await send.click()
  const told = dialog.getByText('Сервис пока недоступен. Текст сохранён')
  await told.waitFor()
  expect(await dialog.getByRole('alert').textContent()).toBe('')
  await dialog.getByRole('button', { name: 'Не отправлять' }).click()
  await told.waitFor({ state: 'detached' })
  expect(await field.inputValue()).toBe('Сказано в тишине.')
  await send.click()
  await told.waitFor()

  database.repair()
  await writer.getByRole('status').getByText('Опубликовано').waitFor()
  await dialog.waitFor({ state: 'detached' })
  await banner.waitFor({ state: 'detached' })
  await reader.getByRole('button', { name: 'Показать новые записи' }).click()
  await postWith(reader, 'Сказано в тишине.').waitFor()
  const { rows } = await journey.sql.query('SELECT FROM posts WHERE text = $1', [
    'Сказано в тишине.',
  ])
  expect(rows).toHaveLength(1)
})
