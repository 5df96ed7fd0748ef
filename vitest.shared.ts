import { compileCacheFolder } from './scripts/compile-cache.ts'

/** Settings that the suites share; each of them has a configuration of its own. */

// Each test file and each product under test is a process of its own that loads the same modules: Node compiles them once.
const compileCache = compileCacheFolder()
if (compileCache) process.env.NODE_COMPILE_CACHE ??= compileCache

/** Starts the database only for projects that need one: `npm test -- contract` runs at once. */
export const sharedPostgres = './server/testing/global-setup.ts'

/** A test that fails sometimes has failed: nothing retries it. */
export const strict = { retry: 0, allowOnly: false }

/**
 * Node runs these files in production as they stand, so it runs them in tests too: without a bundler between, a missing
 * extension or a syntax that cannot be erased fails here first.
 */
export const runByNode = {
  experimental: { viteModuleRunner: false, nodeLoader: false },
  // The files that one worker runs share its process, which loads the modules once.
  isolate: false,
  // On a busy machine a correct result may take long.
  expect: { poll: { timeout: 15_000, interval: 30 } },
}

/** Tests of the whole product run one file at a time, and wait long. */
export const wholeProduct = {
  ...runByNode,
  fileParallelism: false,
  testTimeout: 60_000,
  hookTimeout: 120_000,
}
