import { existsSync } from 'node:fs'
import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { createProduct } from '../../e2e/testing/product.ts'
import { databaseForTest } from '../../server/testing/database/database-for-test.ts'
import { createClient } from '../../server/testing/http/client.ts'

async function productForTest(env?: Record<string, string>) {
  const product = await createProduct(env)
  onTestFinished(() => product.remove())
  return product
}

test('the first start creates the database and the secret, SIGINT or a closed terminal stops both, and the second start has the data', async () => {
  const product = await productForTest()
  await product.start()
  expect(product.lines).toContainEqual(expect.stringContaining('Создаём базу данных'))
  const { mode } = await stat(join(product.dataDir, 'app-secret'))
  expect(mode & 0o777).toBe(0o600)
  // The code is in the printed mail, as for an operator without an SMTP server.
  const codeFor = () => product.printed(/^ {2}(\d{6}) — /)
  const client = createClient(product.url, { check() {}, codeFor })
  await client.publish(await client.signIn('olga@example.org'), 'До перезапуска')
  for (const signal of ['SIGINT', 'SIGHUP'] as const) {
    expect(await product.stop(signal)).toBe(0)
    expect(product.lines).toContain('Остановлено.')
    expect(existsSync(join(product.dataDir, 'postgres/postmaster.pid'))).toBe(false)

    await product.start()
    const { body } = await client.call('GET', '/posts')
    expect(body.posts[0].text).toBe('До перезапуска')
  }
})

test('a port that is taken ends the start with a sentence that names PORT; with DATABASE_URL no database is started', async () => {
  const DATABASE_URL = await databaseForTest()
  const settings = { DATABASE_URL, APP_SECRET: 'x'.repeat(32) }
  const first = await productForTest(settings)
  await first.start()
  expect(existsSync(join(first.dataDir, 'postgres'))).toBe(false)
  const second = await productForTest({ ...settings, PORT: new URL(first.url).port })
  await expect(second.start()).rejects.toThrow(/PORT: .* уже занят/)
})
