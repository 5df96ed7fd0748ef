import { defineConfig } from 'vitest/config'

// Only what needs a database starts one: `npm test -- contract` runs at once.
const sharedPostgres = './server/testing/global-setup.ts'

// Node runs these files in production as they stand, so it runs them in tests too: without a
// bundler between, a missing extension or a syntax that cannot be erased fails here first.
const runByNode = { experimental: { viteModuleRunner: false, nodeLoader: false } }

export default defineConfig({
  test: {
    retry: 0,
    allowOnly: false,
    // Orders start at 1: with one worker, Vitest runs a group of order 0 last instead of first.
    projects: [
      {
        test: {
          name: 'unit',
          include: ['contract/**/*.test.ts', 'scripts/**/*.test.ts', 'web/**/*.test.{ts,tsx}'],
          sequence: { groupOrder: 1 },
        },
      },
      {
        test: {
          name: 'server',
          include: ['server/**/*.test.ts'],
          globalSetup: [sharedPostgres],
          ...runByNode,
          // Tests wait for the database most of the time: more files than cores keep both busy.
          maxWorkers: 3,
          testTimeout: 20_000,
          hookTimeout: 30_000,
          sequence: { groupOrder: 2 },
        },
      },
      {
        test: {
          name: 'e2e',
          // Faults and nodes have commands of their own: test:faults and test:nodes.
          include: ['e2e/*.test.ts'],
          globalSetup: [sharedPostgres, './scripts/e2e-setup.ts'],
          ...runByNode,
          // A browser on a busy machine is slow, not wrong: one journey at a time, after the rest.
          fileParallelism: false,
          testTimeout: 60_000,
          hookTimeout: 120_000,
          sequence: { groupOrder: 3 },
        },
      },
    ],
  },
})
