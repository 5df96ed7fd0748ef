import { defineConfig } from 'vitest/config'
import { sharedPostgres, strict, wholeProduct } from './vitest.shared.ts'

/** Backups, upgrades, releases and the files of deploy/: they install programs and take minutes, so not part of `npm test`. */
export default defineConfig({
  test: {
    name: 'operations',
    include: ['e2e/operations/*.test.ts'],
    globalSetup: [sharedPostgres, './scripts/nodes-setup.ts'],
    passWithNoTests: true,
    ...strict,
    ...wholeProduct,
  },
})
