import { defineConfig } from 'vitest/config'
import { RANDOM, STARTS_AND_KILLS, sharedPostgres, strict, wholeProduct } from './vitest.shared.ts'

/** Real processes that are killed: slow, and alone on the machine, so not part of `npm test`. */
export default defineConfig({
  test: {
    name: 'faults',
    include: ['e2e/faults/*.test.ts', ...STARTS_AND_KILLS, ...RANDOM],
    env: { FUZZ_RUNS: '10000', ACTS_RUNS: '20', MOVE_ROUNDS: '80' },
    globalSetup: [sharedPostgres],
    ...strict,
    ...wholeProduct,
  },
})
