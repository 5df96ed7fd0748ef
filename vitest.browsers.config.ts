import { defineConfig } from 'vitest/config'
import { sharedPostgres, strict, wholeProduct } from './vitest.shared.ts'

/** The main journeys in Firefox and in WebKit, which not every machine has, so not part of `npm test`. */
export default defineConfig({
  test: {
    name: 'browsers',
    include: ['e2e/browsers/*.test.ts'],
    globalSetup: [sharedPostgres, './scripts/browsers-setup.ts'],
    ...strict,
    ...wholeProduct,
  },
})
