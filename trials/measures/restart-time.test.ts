import { expect, onTestFinished, test } from 'vitest'
import { createProduct } from '../../e2e/testing/product.ts'

test('a start with the database that an earlier one has created is ready within 3 s', async () => {
  const product = await createProduct()
  onTestFinished(() => product.remove())
  await product.start()
  await product.stop()
  const began = performance.now()
  await product.start()
  expect(performance.now() - began).toBeLessThan(3000)
})
