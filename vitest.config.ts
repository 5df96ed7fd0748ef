import { defineConfig } from 'vitest/config'
import { runByNode, sharedPostgres, strict, wholeProduct } from './vitest.shared.ts'

export default defineConfig({
  test: {
    ...strict,
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
          ...wholeProduct,
          sequence: { groupOrder: 3 },
        },
      },
    ],
  },
})
