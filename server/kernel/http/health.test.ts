import { expect, test } from 'vitest'
import { closeAfterTest } from '../../testing/close-after-test.ts'
import { databaseForTest } from '../../testing/database/database-for-test.ts'
import { executeOn } from '../../testing/database/databases.ts'
import { openPostgresProxy } from '../../testing/database/postgres-proxy.ts'
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
  expect(lines).toEqual(Array(NODES).fill(expect.stringContaining('900-breaking')))
  const answer = await fetch(`${app.url}/readyz`)
  const message = 'База новее этого сервера: в ней есть 900-breaking'
  expect(await answer.json()).toHaveProperty('message', message)
  expect(answer.headers.has('not-ready')).toBe(true)
  expect(await statusOf(`${app.url}/livez`)).toBe(200)
})

test('after SIGTERM a server with DRAIN_SECONDS is not ready, serves for that long, and stops then, without a stack trace even if its database is away', async () => {
  const line = closeAfterTest(await openPostgresProxy(await databaseForTest()))
  const env = { DATABASE_URL: line.url, APP_SECRET: 's'.repeat(32), DRAIN_SECONDS: '3' }
  const node = await startMain(env)
  expect(await statusOf(`${node.url}/readyz`)).toBe(200)
  const since = performance.now()
  const stopped = node.stop()
  await expect.poll(() => statusOf(`${node.url}/readyz`)).toBe(503)
  expect(await statusOf(`${node.url}/api/v1/posts`)).toBe(200)
  // Jobs look for work every 2 s.
  line.cut()
  await stopped
  expect(performance.now() - since).toBeGreaterThanOrEqual(3000)
  expect(node.stderr).toBe('')
  await expect(fetch(`${node.url}/livez`)).rejects.toThrow()
})
