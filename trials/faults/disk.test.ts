import { globSync } from 'node:fs'
import { open, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { sql } from 'kysely'
import { expect, onTestFinished } from 'vitest'
import type { Product } from '../../e2e/testing/product.ts'
import { mountForTest, asRoot as test } from '../../server/testing/process/folder-for-test.ts'
import { runCommand } from '../../server/testing/process/run-command.ts'
import { startUsedProduct, withEmbeddedDatabase } from './embedded-database.ts'

const MIB = 1024 * 1024

test('the disk full at the end of a WAL segment, and freed: visitors read on, writes and readiness are 503, the same process serves everything again, nothing acknowledged is lost; full again, without a connection commands say so, and SIGTERM ends the process within 10 s', {
  timeout: 180_000,
}, async () => {
  const used = await startUsedProduct({ prepare: onSmallDisk })
  const { product, client, users, acknowledged } = used
  const load = used.use()
  await acknowledged.waitForMore(40)

  const free = await fillDisk(product.dataDir)
  await acknowledged.waitForMore(1)
  await load.stop()
  const wall = await client.call('GET', '/posts')
  expect(wall.status).toBe(200)
  await useUpWal(product)
  await expect.poll(() => readiness(product)).toBe(503)
  await product.printed(/(не осталось места)/)

  const publish = () =>
    client.call('POST', '/posts', { token: users[0]?.token, body: { text: 'На полный диск' } })
  expect((await publish()).status).toBe(503)
  const cached = await client.call('GET', '/posts')
  expect([cached.status, cached.body]).toEqual([200, wall.body])
  // A response from the last second is not marked as stale.
  const age = async () => Number((await client.call('GET', '/posts')).headers.get('age'))
  await expect.poll(age).toBeGreaterThanOrEqual(1)
  // The product stays like this while the disk is full, for longer than any limit on retries.
  const since = performance.now()
  await expect.poll(() => performance.now() - since, { timeout: 30_000 }).toBeGreaterThan(15_000)
  expect(await readiness(product)).toBe(503)
  expect((await fetch(`${product.url}/livez`)).status).toBe(200)
  expect((await client.call('GET', '/posts')).status).toBe(200)

  await free()
  await product.printed(/(База данных снова работает)/)
  await expect.poll(() => readiness(product)).toBe(200)
  await expect.poll(async () => (await publish()).status).toBe(201)
  expect((await client.call('GET', '/posts')).headers.get('age')).toBeNull()
  const statuses = new Set(load.outcomes.map(({ status }) => status))
  expect([200, 201, 503]).toEqual(expect.arrayContaining([...statuses]))
  await used.expectNothingLost()

  const { dataDir } = product
  const status = () => runCommand({ DATA_DIR: dataDir }, 'status')
  const refusal = async () => {
    // PostgreSQL writes these files again at the next connection, which the server may open first.
    for (const file of globSync(join(dataDir, 'postgres/base/*/pg_internal.init'))) await rm(file)
    const free = await fillDisk(dataDir)
    return (await status().finally(free)).err
  }
  await expect.poll(refusal).toMatch(/На диске базы данных не осталось места .*\n$/)
  expect(await status()).toMatchObject({ code: 0 })
  await fillDisk(dataDir)
  await useUpWal(product)
  await expect.poll(() => readiness(product)).toBe(503)
  const asked = performance.now()
  expect(await product.stop()).toBe(0)
  expect(performance.now() - asked).toBeLessThan(10_000)
})

/** Puts the product's folder on a file system of its own, just large enough for a new database. */
async function onSmallDisk(product: Product): Promise<void> {
  await mountForTest(product.dataDir, 'size=120m')
  onTestFinished(async () => void (await product.stop()))
}

/** Writes until the disk is full; returns a function that frees the space. */
async function fillDisk(folder: string): Promise<() => Promise<void>> {
  const path = join(folder, 'ballast')
  const file = await open(path, 'w')
  try {
    for (const size of [MIB, 4096]) {
      const block = Buffer.alloc(size)
      while ((await file.write(block).catch(() => undefined))?.bytesWritten === size);
    }
  } finally {
    await file.close()
  }
  return () => rm(path)
}

/** Fills the current segment of the write-ahead log without touching a table. */
async function useUpWal({ dataDir }: Product): Promise<void> {
  await withEmbeddedDatabase(dataDir, async (db) => {
    const write = sql`SELECT pg_logical_emit_message(false, 'test', repeat('x', 1000000))`
    while (await write.execute(db).catch(() => undefined));
  })
}

async function readiness({ url }: Product): Promise<number> {
  return (await fetch(`${url}/readyz`)).status
}
