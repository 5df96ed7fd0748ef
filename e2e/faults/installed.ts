import { onTestFinished } from 'vitest'
import { codeOf } from '../../server/codes/code.ts'
import { deriveKey } from '../../server/start/app-secret.ts'
import { createClient, type TestUser } from '../../server/testing/client.ts'
import { installProduct, type Product } from '../testing/product.ts'

const APP_SECRET = 'a-secret-that-only-faults-know-0123456789'

/**
 * The product with its embedded database, started, as one test's own; codes need no mail. `prepare` gets its folder ready
 * before the start.
 */
export async function startedProduct(
  env: Record<string, string> = {},
  prepare: (product: Product) => Promise<void> = async () => {},
) {
  const product = await installProduct({ APP_SECRET, ACCESS_TOKEN_SECONDS: '3600', ...env })
  onTestFinished(() => product.remove())
  await prepare(product)
  await product.start()
  const codeKey = deriveKey(APP_SECRET, 'codes')
  const client = createClient(product.url, { check() {}, codeFor: (id) => codeOf(id, codeKey) })
  return { product, client }
}

/** So many new users, one after another. */
export async function signUps(
  { signUp }: Awaited<ReturnType<typeof startedProduct>>['client'],
  count: number,
): Promise<TestUser[]> {
  const users: TestUser[] = []
  while (users.length < count) users.push(await signUp())
  return users
}
