import { defineConfig } from 'vitest/config'

/** Real processes that are killed: slow, and alone on the machine, so not part of `npm test`. */
export default defineConfig({
  test: {
    name: 'faults',
    include: ['e2e/faults/*.test.ts'],
    retry: 0,
    allowOnly: false,
    // Node runs these files itself, as it does the product.
    experimental: { viteModuleRunner: false, nodeLoader: false },
    fileParallelism: false,
    testTimeout: 60_000,
    hookTimeout: 120_000,
  },
})
