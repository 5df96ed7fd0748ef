import { existsSync } from 'node:fs'
import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import type { PostPage } from '../../contract/posts.ts'
import { createProduct, type Product } from '../../e2e/testing/product.ts'
import { createClient } from '../../server/testing/client.ts'
import { databaseForTest } from '../../server/testing/database-for-test.ts'

test('the first start creates the database and the secret; the second has the data', async () => {
  const product = await productForTest()
  await product.start()
  expect(product.lines).toContainEqual(expect.stringContaining('Создаём базу данных'))
  const { mode } = await stat(join(product.dataDir, 'app-secret'))
  expect(mode & 0o777).toBe(0o600)
  await publishAs(product, 'olga@example.org', 'До перезапуска')
  expect(await product.stop()).toBe(0)

  await product.start()
  expect(await newestText(product)).toBe('До перезапуска')
})

test.each(['SIGTERM', 'SIGINT'] as const)(
  '%s stops everything, the database last',
  async (signal) => {
    const product = await productForTest()
    await product.start()
    expect(existsSync(join(product.dataDir, 'postgres/postmaster.pid'))).toBe(true)
    expect(await product.stop(signal)).toBe(0)
    expect(product.lines).toContain('Остановлено.')
    expect(existsSync(join(product.dataDir, 'postgres/postmaster.pid'))).toBe(false)
  },
)

test('a second server on one DATA_DIR refuses with a sentence that names it, and the first goes on', async () => {
  const product = await productForTest()
  await product.start()
  const second = await productForTest({ DATA_DIR: product.dataDir })
  await expect(second.start()).rejects.toThrow(product.dataDir)
  expect((await fetch(`${product.url}/readyz`)).status).toBe(200)
})

test('a port that is taken ends the start with a sentence that names PORT', async () => {
  const first = await productForTest()
  await first.start()
  const second = await productForTest({ PORT: new URL(first.url).port })
  await expect(second.start()).rejects.toThrow(/PORT: .* уже занят/)
})

test('with DATABASE_URL the product uses that database server and starts none', async () => {
  const DATABASE_URL = await databaseForTest()
  const product = await productForTest({ DATABASE_URL, APP_SECRET: 'x'.repeat(32) })
  await product.start()
  await publishAs(product, 'vera@example.org', 'В чужой базе')
  expect(await newestText(product)).toBe('В чужой базе')
  expect(existsSync(join(product.dataDir, 'postgres'))).toBe(false)
  await product.stop()
})

async function productForTest(env?: Record<string, string>) {
  const product = await createProduct(env)
  onTestFinished(() => product.remove())
  return product
}

/**
 * Registers with the code from the printed mail, as an operator without an SMTP server would, and
 * publishes.
 */
async function publishAs(product: Product, email: string, text: string): Promise<void> {
  const client = createClient(product.url, {
    check() {},
    codeFor: () => product.printed(/^ {2}(\d{6}) — /),
  })
  const user = await client.signIn(email)
  await client.publish(user, text)
}

async function newestText(product: Product): Promise<string> {
  const page = await fetch(`${product.url}/api/v1/posts`)
  const { posts } = (await page.json()) as PostPage
  return posts[0]?.text ?? ''
}
