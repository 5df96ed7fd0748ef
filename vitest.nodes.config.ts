import { defineConfig } from 'vitest/config'
import { runByNode, sharedPostgres, strict, wholeProduct } from './vitest.shared.ts'

/** Two nodes on one database behind a balancer: the server's promises again, then two processes and their faults. */
export default defineConfig({
  test: {
    ...strict,
    projects: [
      {
        test: {
          name: 'server on two nodes',
          include: ['server/**/*.test.ts', 'operator/**/*.test.ts'],
          // These do not depend on nodes: their promises are the same for one and for two.
          exclude: [
            'server/{kernel/db,operations/embedded-postgres,operations/start}/**',
            'server/kernel/config/config.test.ts',
          ],
          env: { VSLUKH_NODES: '2' },
          globalSetup: [sharedPostgres, './scripts/nodes-setup.ts'],
          ...runByNode,
          maxWorkers: 2,
          testTimeout: 40_000,
          hookTimeout: 60_000,
          sequence: { groupOrder: 1 },
        },
      },
      {
        test: {
          name: 'two processes',
          include: ['e2e/nodes/*.test.ts'],
          globalSetup: [sharedPostgres, './scripts/nodes-setup.ts'],
          ...wholeProduct,
          sequence: { groupOrder: 2 },
        },
      },
    ],
  },
})
