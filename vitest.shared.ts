/** What the suites have in common; each of them has a configuration of its own. */

/** Only what needs a database starts one: `npm test -- contract` runs at once. */
export const sharedPostgres = './server/testing/global-setup.ts'

/** A test that fails now and then fails. */
export const strict = { retry: 0, allowOnly: false }

/**
 * Node runs these files in production as they stand, so it runs them in tests too: without a bundler between, a missing
 * extension or a syntax that cannot be erased fails here first.
 */
export const runByNode = {
  experimental: { viteModuleRunner: false, nodeLoader: false },
  // A busy machine is slow, not wrong.
  expect: { poll: { timeout: 15_000, interval: 30 } },
}

/** Tests of the whole product run one file at a time, and wait long. */
export const wholeProduct = {
  ...runByNode,
  fileParallelism: false,
  testTimeout: 60_000,
  hookTimeout: 120_000,
}
