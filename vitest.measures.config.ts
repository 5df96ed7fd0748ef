import { defineConfig } from 'vitest/config'
import { MEASURING, sharedPostgres, strict, wholeProduct } from './vitest.shared.ts'

/** Times, load, bytes and processor use are measured while nothing else runs, so this is not part of `npm test`. */
export default defineConfig({
  test: {
    name: 'measures',
    include: ['e2e/measures/*.test.ts', ...MEASURING],
    globalSetup: [sharedPostgres, './scripts/e2e-setup.ts'],
    ...strict,
    ...wholeProduct,
  },
})
