import { afterAll, expect } from 'vitest'
import { testWith } from '../../e2e/testing/journey.ts'
import { postWith } from '../../e2e/testing/page-actions.ts'
import { openPostgresProxy } from '../../server/testing/database/postgres-proxy.ts'

let database: Awaited<ReturnType<typeof openPostgresProxy>>
const test = testWith({}, async (url) => {
  database = await openPostgresProxy(url)
  return database.url
})
afterAll(() => database?.close())

test('while the database is away, a visitor reads the saved wall with a notice, and new posts once it is back', async ({
  journey,
  olga,
}) => {
  await journey.publish(olga, 'Сказано раньше.')
  const reader = await journey.visit({ expectedErrors: /^503 / })
  await postWith(reader, 'Сказано раньше.').waitFor()

  database.cut()
  const banner = reader.getByText('Показана сохранённая версия')
  expect(await banner.count()).toBe(0)
  await expect.poll(async () => (await fetch(journey.url)).headers.has('age')).toBe(true)
  await reader.reload()
  await banner.waitFor()
  await postWith(reader, 'Сказано раньше.').waitFor()

  database.repair()
  await banner.waitFor({ state: 'detached' })
  await journey.publish(olga, 'Сказано в тишине.')
  await reader.getByRole('button', { name: 'Показать новые записи' }).click()
  await postWith(reader, 'Сказано в тишине.').waitFor()
})
