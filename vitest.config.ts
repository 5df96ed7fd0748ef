import { defineConfig } from 'vitest/config'
import { compileCacheFolder } from './scripts/compile-cache.ts'

// Each test file and each product under test is a process of its own that loads the same modules:
// Node compiles them once.
const compileCache = compileCacheFolder()
if (compileCache) process.env.NODE_COMPILE_CACHE ??= compileCache

const SHARED_POSTGRES = './server/testing/global-setup.ts'
const FILES_IN_MEMORY = './scripts/testing/memory-setup.ts'
const BROWSER = './scripts/testing/e2e-setup.ts'
const BALANCER = './scripts/testing/nodes-setup.ts'

/** What kills, waits for limits of time, fills tables or memory, or finds more the longer it runs. */
const FAULTS = [
  'operator/embedded-database.test.ts',
  'server/operations/embedded-postgres/{data-dir,embedded-postgres}.test.ts',
  'server/operations/backup/{nightly-backup,restore}.test.ts',
  'server/operations/start/start-refusals.test.ts',
  'server/kernel/db/{migrate,time-limits}.test.ts',
  'server/kernel/http/overload.test.ts',
  'server/kernel/mail/smtp-faults.test.ts',
  'server/features/account-deletion/large-account.test.ts',
  'server/features/moderation/random-acts.test.ts',
  'server/features/posts/prepared-texts.test.ts',
  'server/{fuzz,wrong-clock}.test.ts',
]

/** `npm test` runs this test too, with fewer posts. */
const DATA_EXPORT = 'server/features/data-export/data-export.test.ts'

/**
 * Run as a wall for one network is: without PUBLIC_URL, and where the connection is neither encrypted
 * nor to the browser's own machine, so that locks, the clipboard and random UUIDs are missing. All
 * other journeys have them.
 */
const OVER_PLAIN_HTTP = [
  'e2e/{answers,first-journey,likes,replies,settings,sign-in,wall,writing}.test.ts',
  'e2e/plain-http/*.test.ts',
]

/** On a busy machine a correct result may take long. */
const PATIENT = { poll: { timeout: 30_000, interval: 30 } }

/**
 * Node runs these files in production as they stand, so it runs them in tests too: without a
 * bundler between, a missing extension or a syntax that cannot be erased fails here first.
 */
const runByNode = {
  experimental: { viteModuleRunner: false, nodeLoader: false },
  // The files that one worker runs share its process, which loads the modules once.
  isolate: false,
  expect: PATIENT,
}

const overHttp = { ...runByNode, testTimeout: 120_000, hookTimeout: 120_000 }

const wholeProduct = {
  ...runByNode,
  fileParallelism: false,
  testTimeout: 60_000,
  hookTimeout: 120_000,
}

const journeys = {
  ...wholeProduct,
  globalSetup: [FILES_IN_MEMORY, SHARED_POSTGRES, BROWSER],
  // Each worker has a product, a database and a browser of its own, and often waits for them. With a
  // fourth, a product on a slow machine of two cores refuses calls that wait for a second.
  fileParallelism: true,
  maxWorkers: 3,
  // A busy machine may be four times as slow.
  testTimeout: 120_000,
  sequence: { groupOrder: 3 },
}

/** Every suite is a project; the scripts of package.json name the projects of each command. */
export default defineConfig({
  test: {
    // A test that fails sometimes has failed: nothing retries it.
    retry: 0,
    allowOnly: false,
    projects: [
      // Orders start at 1: with one worker, Vitest runs a group of order 0 last instead of first.
      suite('unit', {
        include: [
          '{contract,scripts,e2e/testing}/**/*.test.ts',
          'web/**/*.test.{ts,tsx}',
          'trials/planted/table.test.ts',
        ],
        globalSetup: [FILES_IN_MEMORY],
        isolate: false,
        setupFiles: ['./web/testing/restore-after-each.ts'],
        expect: PATIENT,
        testTimeout: 30_000,
        // Vitest would leave one core to its own process, which has little to do.
        maxWorkers: '100%',
        sequence: { groupOrder: 1 },
      }),
      suite('server', {
        ...overHttp,
        include: [
          '{server,operator,demo}/**/*.test.ts',
          'trials/pairs/{sample,schedules}.test.ts',
          'trials/lost-answers/repeated-calls.test.ts',
          'trials/failing-calls/sample.test.ts',
          'trials/door/played.test.ts',
          'trials/month/*.test.ts',
        ],
        exclude: FAULTS,
        globalSetup: [FILES_IN_MEMORY, SHARED_POSTGRES],
        // Tests wait for the database part of the time, so four files keep two cores busy.
        maxWorkers: 4,
        sequence: { groupOrder: 2 },
      }),
      suite('e2e', {
        ...journeys,
        include: [
          'e2e/*.test.ts',
          'trials/lost-answers/sample.test.ts',
          'trials/walk/sample.test.ts',
        ],
        exclude: OVER_PLAIN_HTTP,
        env: { SETS_PUBLIC_URL: '1' },
      }),
      suite('e2e-http', {
        ...journeys,
        include: OVER_PLAIN_HTTP,
        env: { WALL_HOST: 'wall.test' },
      }),
      suite('faults', {
        ...wholeProduct,
        include: ['trials/faults/*.test.ts', ...FAULTS, DATA_EXPORT],
        env: {
          FUZZ_RUNS: '10000',
          ACTS_RUNS: '20',
          EXPORTED_POSTS: '100000',
        },
        globalSetup: [SHARED_POSTGRES, BROWSER],
      }),
      suite('calls', {
        ...wholeProduct,
        include: ['trials/failing-calls/*.test.ts'],
        exclude: ['trials/failing-calls/sample.test.ts'],
        env: { FAILING_CALLS: process.env.FAILING_CALLS ?? 'kinds' },
        globalSetup: [FILES_IN_MEMORY, SHARED_POSTGRES],
        fileParallelism: true,
        maxWorkers: 2,
        testTimeout: 7_200_000,
      }),
      suite('nodes', {
        ...overHttp,
        include: ['server/**/*.test.ts', 'operator/**/*.test.ts'],
        // These promises do not depend on the number of nodes.
        exclude: [
          'server/{kernel/db,operations/embedded-postgres,operations/start}/**',
          'server/kernel/config/config.test.ts',
        ],
        env: { VSLUKH_NODES: '2' },
        globalSetup: [SHARED_POSTGRES, BALANCER],
        maxWorkers: 2,
        sequence: { groupOrder: 4 },
      }),
      suite('operations', {
        ...wholeProduct,
        // Some install releases, move walls or wait for a machine to boot.
        testTimeout: 600_000,
        include: ['trials/operations/*.test.ts'],
        globalSetup: [SHARED_POSTGRES, BALANCER],
      }),
      suite('container', {
        ...wholeProduct,
        testTimeout: 600_000,
        include: ['trials/container/*.test.ts'],
        globalSetup: [SHARED_POSTGRES],
      }),
      suite('rolling', {
        ...wholeProduct,
        include: ['trials/rolling/*.test.ts'],
        globalSetup: [SHARED_POSTGRES, BALANCER],
      }),
      suite('pairs', {
        ...wholeProduct,
        include: ['trials/pairs/{first,second}-half.test.ts'],
        globalSetup: [SHARED_POSTGRES],
        fileParallelism: true,
        maxWorkers: 2,
        // So many pairs at once in each file, with a database and two nodes each, which wait for the
        // database part of the time.
        maxConcurrency: 3,
      }),
      suite('planted', {
        ...wholeProduct,
        include: ['trials/planted/planted-faults.test.ts'],
        globalSetup: [FILES_IN_MEMORY],
      }),
      suite('lost', {
        ...journeys,
        include: ['trials/lost-answers/{first,second}-half.test.ts'],
        env: { SETS_PUBLIC_URL: '1' },
        maxWorkers: 2,
      }),
      suite('cluster', {
        ...wholeProduct,
        include: ['trials/cluster/*.test.ts'],
        globalSetup: [BALANCER],
        testTimeout: 240_000,
        hookTimeout: 240_000,
      }),
      suite('door', {
        ...runByNode,
        include: ['trials/door/door.test.ts'],
        // Each of them starts a Java.
        maxConcurrency: 2,
        testTimeout: 1_200_000,
      }),
      suite('looks', {
        ...wholeProduct,
        include: ['trials/visual/*.test.ts'],
        globalSetup: [BROWSER],
        env: { RENEW_PICTURES: process.argv.includes('-u') ? '1' : '0' },
      }),
      suite('walk', {
        ...wholeProduct,
        include: ['trials/walk/walk.test.ts'],
        globalSetup: [SHARED_POSTGRES, BROWSER],
        env: { SETS_PUBLIC_URL: '1' },
      }),
      suite('listened', {
        ...wholeProduct,
        include: ['trials/listened/listened.test.ts'],
        testTimeout: 600_000,
        globalSetup: [SHARED_POSTGRES, BROWSER],
        env: { SETS_PUBLIC_URL: '1' },
      }),
      suite('browsers', {
        ...wholeProduct,
        include: ['trials/browsers/*.test.ts'],
        globalSetup: ['./scripts/testing/browsers-setup.ts'],
      }),
    ],
  },
})

function suite<Settings extends object>(name: string, settings: Settings) {
  return { extends: true as const, test: { name, ...settings } }
}
