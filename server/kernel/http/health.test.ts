import { expect, test } from 'vitest'
import { databaseForTest } from '../../testing/database/database-for-test.ts'
import { executeOn } from '../../testing/database/databases.ts'
import { startMain } from '../../testing/process/start-main.ts'
import { appForTest, NODES } from '../../testing/test-app.ts'

const statusOf = async (url: string) => (await fetch(url)).status

test('a node whose database a newer version has changed in a way that breaks it is not ready, and logs why once', async () => {
  const app = await appForTest()
  const add = `INSERT INTO kysely_migration VALUES ('900-breaking', '')`
  await executeOn(app.databaseUrl, add.replace('breaking', 'more'))
  await executeOn(app.databaseUrl, `INSERT INTO additive_migrations VALUES ('900-more')`)
  expect(await statusOf(`${app.url}/readyz`)).toBe(200)
  await executeOn(app.databaseUrl, add)
  for (let n = 0; n < 2 * NODES; n++) expect(await statusOf(`${app.url}/readyz`)).toBe(503)
  const lines = app.logged.filter((line) => line.includes('a newer version has changed'))
  expect(lines).toHaveLength(NODES)
  expect(lines[0]).toContain('900-breaking')
  const answer = await fetch(`${app.url}/readyz`)
  const { message } = (await answer.json()) as { message: string }
  expect(message).toBe('База новее этого сервера: в ней есть 900-breaking')
  expect(answer.headers.has('not-ready')).toBe(true)
  expect(await statusOf(`${app.url}/livez`)).toBe(200)
})

test('after SIGTERM a server with DRAIN_SECONDS is not ready, serves for that long, and stops then', async () => {
  const databaseUrl = await databaseForTest()
  const env = { DATABASE_URL: databaseUrl, APP_SECRET: 's'.repeat(32), DRAIN_SECONDS: '1' }
  const { url, stop } = await startMain(env)
  expect(await statusOf(`${url}/readyz`)).toBe(200)
  const since = performance.now()
  const stopped = stop()
  await expect.poll(() => statusOf(`${url}/readyz`)).toBe(503)
  expect(await statusOf(`${url}/api/v1/posts`)).toBe(200)
  await stopped
  expect(performance.now() - since).toBeGreaterThanOrEqual(1000)
  await expect(fetch(`${url}/livez`)).rejects.toThrow()
})
