import { mkdirSync, rmSync, statfsSync } from 'node:fs'
import { compileCacheFolder } from './scripts/compile-cache.ts'

/** Settings that the suites share; each of them has a configuration of its own. */

// Each test file and each product under test is a process of its own that loads the same modules: Node compiles them once.
const compileCache = compileCacheFolder()
if (compileCache) process.env.NODE_COMPILE_CACHE ??= compileCache

/** Starts the database only for projects that need one: `npm test -- contract` runs at once. */
export const sharedPostgres = './server/testing/global-setup.ts'

/** Server tests that start and kill whole databases: part of `npm run test:faults`. */
export const STARTS_AND_KILLS = [
  'operator/embedded-database.test.ts',
  'server/operations/embedded-postgres/{data-dir,embedded-postgres}.test.ts',
  'server/operations/start/installation.test.ts',
  'server/wrong-clock.test.ts',
]

/** Server tests that measure memory over thousands of requests: part of `npm run test:measures`. */
export const MEASURING = ['server/features/posts/prepared-texts.test.ts']

/** Server tests that find more the longer they run: short in `npm test`, long in `npm run test:faults`. */
export const RANDOM = [
  'server/fuzz.test.ts',
  'server/features/moderation/{moving-posts,random-acts}.test.ts',
]

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

const MEMORY = '/dev/shm'
const LEAST_FREE_BYTES = 4 * 1024 ** 3

/**
 * Lets this process and its children keep their temporary files in memory, where the machine has a file system for that with
 * 4 GiB free. They are removed when the process ends.
 */
export function keepTemporaryFilesInMemory(): void {
  try {
    const { bavail, bsize } = statfsSync(MEMORY)
    if (bavail * bsize < LEAST_FREE_BYTES) return
    const folder = `${MEMORY}/vslukh-tests-${process.pid}`
    // PostgreSQL, which runs as another user than root, goes through it to folders of its own.
    mkdirSync(folder, { mode: 0o711 })
    process.env.TMPDIR = folder
    process.on('exit', () => rmSync(folder, { recursive: true, force: true }))
  } catch {
    // There is none, or it may not be written: the usual folder serves.
  }
}
