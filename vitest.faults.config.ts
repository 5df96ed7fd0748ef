import { defineConfig } from 'vitest/config'
import { sharedPostgres, strict, wholeProduct } from './vitest.shared.ts'

/** Real processes that are killed: slow, and alone on the machine, so not part of `npm test`. */
export default defineConfig({
  test: {
    name: 'faults',
    include: ['e2e/faults/*.test.ts'],
    globalSetup: [sharedPostgres],
    ...strict,
    ...wholeProduct,
  },
})
