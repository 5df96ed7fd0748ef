import { defineConfig } from 'vitest/config'
import {
  keepTemporaryFilesInMemory,
  MEASURING,
  runByNode,
  STARTS_AND_KILLS,
  sharedPostgres,
  strict,
  wholeProduct,
} from './vitest.shared.ts'

// Each test database is some 500 files, which are made and removed again.
keepTemporaryFilesInMemory()

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
          include: ['{server,operator,demo}/**/*.test.ts'],
          exclude: [...STARTS_AND_KILLS, ...MEASURING],
          globalSetup: [sharedPostgres],
          ...runByNode,
          // Tests wait for the database part of the time, so four files keep two cores busy.
          maxWorkers: 4,
          testTimeout: 40_000,
          hookTimeout: 60_000,
          sequence: { groupOrder: 2 },
        },
      },
      {
        test: {
          name: 'e2e',
          // What kills, measures or needs several nodes has commands of its own, which CONTRIBUTING.md names.
          include: ['e2e/*.test.ts'],
          globalSetup: [sharedPostgres, './scripts/e2e-setup.ts'],
          ...wholeProduct,
          // Each file has a product, a database and a browser of its own, and often waits for them: three keep two cores busy.
          fileParallelism: true,
          maxWorkers: 3,
          sequence: { groupOrder: 3 },
        },
      },
    ],
  },
})
