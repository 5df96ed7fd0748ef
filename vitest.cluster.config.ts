import { defineConfig } from 'vitest/config'
import { strict, wholeProduct } from './vitest.shared.ts'

/** PostgreSQL under Patroni with its faults: it installs programs and takes minutes, so not part of `npm test`. */
export default defineConfig({
  test: {
    name: 'cluster',
    include: ['e2e/cluster/*.test.ts'],
    globalSetup: ['./scripts/nodes-setup.ts'],
    ...strict,
    ...wholeProduct,
    testTimeout: 240_000,
    hookTimeout: 240_000,
  },
})
