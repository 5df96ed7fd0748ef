import { existsSync } from 'node:fs'
import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { createProduct } from '../../e2e/testing/product.ts'
import { createClient } from '../../server/testing/http/client.ts'

test('the first start creates the database and the secret, SIGINT or a closed terminal stops both, and the second start has the data', async () => {
  const product = await createProduct()
  onTestFinished(() => product.remove())
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
