import { open, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { databaseForTest } from '../../testing/database-for-test.ts'
import { executeOn } from '../../testing/databases.ts'
import { isRoot } from '../../testing/debian-package.ts'
import { folderForTest, mountForTest } from '../../testing/folder-for-test.ts'
import { startMain } from '../../testing/start-main.ts'
import { appForTest, NODES } from '../../testing/test-app.ts'

const statusOf = async (url: string) => (await fetch(url)).status

/** Returns what a node that waiting does not make ready states as the reason. */
async function lastingReason(url: string): Promise<string> {
  const response = await fetch(`${url}/readyz`)
  expect(response.status).toBe(503)
  expect(response.headers.has('not-ready')).toBe(true)
  const { message } = (await response.json()) as { message: string }
  return message
}

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
  expect(await lastingReason(app.url)).toBe('База новее этого сервера: в ней есть 900-breaking')
  expect(await statusOf(`${app.url}/livez`)).toBe(200)
})

test('a node whose disk has no room for the database to write is not ready until there is some', async ({
  skip,
}) => {
  skip(!isRoot, 'only root may mount a small disk')
  const dataDir = await folderForTest()
  await mountForTest(dataDir, 'size=48m')
  const app = await appForTest({ config: { databaseUrl: undefined, dataDir } })
  expect(await statusOf(`${app.url}/readyz`)).toBe(200)
  const file = await open(join(dataDir, 'filler'), 'w')
  await file.write(Buffer.alloc(20 * 1024 * 1024, 1))
  await file.close()
  expect(await lastingReason(app.url)).toContain('свободно меньше 32 МиБ')
  expect(await statusOf(`${app.url}/livez`)).toBe(200)
  await rm(join(dataDir, 'filler'))
  expect(await statusOf(`${app.url}/readyz`)).toBe(200)
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
