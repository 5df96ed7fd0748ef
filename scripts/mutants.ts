import { spawnSync } from 'node:child_process'
import { Stryker } from '@stryker-mutator/core'
import { MIGRATIONS } from '../server/kernel/db/migrate.ts'
import { setup as keepFilesInMemory } from './testing/memory-setup.ts'

/**
 * Changes the product in many small ways, and prints the changes that the nearest tests do not
 * notice. Exits 1 if these are too many. Arguments name the groups to try.
 */
const GOAL_PERCENT = 85
const CONFIG = 'vitest.mutants.config.ts'

type Group = { files: string[]; tests: string[] }

const GROUPS: Record<string, Group> = {
  contract: {
    files: ['contract/{account-rules,dates,pages,post-rules,search-rules,text}.ts'],
    tests: ['contract/*.test.ts', 'web/{format,pages,start}/*.test.{ts,tsx}'],
  },
  caches: {
    files: ['web/posts/cache/{list-cache,post-cache}.ts'],
    tests: ['web/posts/cache/*.test.ts', 'web/likes/*.test.ts'],
  },
  codes: {
    files: ['server/features/codes/*.ts'],
    tests: [
      'server/features/codes/*.test.ts',
      'server/features/account/email-change.test.ts',
      'server/features/sign-in/{emails,limits}.test.ts',
    ],
  },
  sessions: {
    files: ['server/features/sessions/*.ts'],
    tests: [
      'server/features/sessions/*.test.ts',
      'server/features/sign-in/{limits,sign-in}.test.ts',
      'server/features/account/email-change.test.ts',
      'server/kernel/cache/signed-in-reads.test.ts',
      'server/features/posts/publication-limits.test.ts',
      'server/kernel/log/logs.test.ts',
      'server/retention.test.ts',
    ],
  },
  limits: {
    files: ['server/kernel/limits/*.ts'],
    tests: ['server/kernel/limits/*.test.ts', 'server/features/codes/code-quota.test.ts'],
  },
}

const TRIGGER_TESTS = [
  'server/features/{posts/counters,likes/*,moderation/hiding}.test.ts',
  'server/features/account-deletion/account-deletion.test.ts',
]

const FUNCTION = /^CREATE (?:OR REPLACE )?(FUNCTION (\w*count\w*)\(.*?^END \$\$;)/gms
const STATEMENT = /^ *(?:PERFORM|INSERT|UPDATE|DELETE)\b[^;]*;/gm
const TRIGGER = /^CREATE TRIGGER (\w+) AFTER \w+ ON (\w+) [^;]*\bcount_\w+\(\);/gm

const chosen = process.argv.slice(2)
const isChosen = (group: string) => chosen.length === 0 || chosen.includes(group)
// A test run that Stryker kills, because it takes too long, cannot remove its files.
keepFilesInMemory()
for (const [name, group] of Object.entries(GROUPS)) {
  if (isChosen(name)) await tryFiles(group)
}
if (isChosen('triggers')) tryTriggers()

async function tryFiles({ files, tests }: Group): Promise<void> {
  const project = files[0]?.startsWith('server/') ? 'server' : 'unit'
  Object.assign(process.env, { MUTANT_PROJECT: project, MUTANT_TESTS: JSON.stringify(tests) })
  const stryker = new Stryker({
    mutate: [...files, '!**/*.{test,fixture}.ts'],
    testRunner: 'vitest',
    plugins: ['@stryker-mutator/vitest-runner'],
    // The operator's commands change the folder of their process, which a thread cannot.
    vitest: { configFile: CONFIG, related: false, pool: 'forks' },
    coverageAnalysis: 'perTest',
    // It makes \V of \v, which is an error in a regular expression with the flag u.
    mutator: { plugins: null, excludedMutations: ['Regex'] },
    // Code that runs once, when its module is loaded, cannot be assigned to a test.
    ignoreStatic: true,
    // Tests wait for the database and for mails half of the time.
    concurrency: 2,
    thresholds: { high: GOAL_PERCENT, low: GOAL_PERCENT, break: GOAL_PERCENT },
    reporters: ['progress-append-only', 'clear-text'],
    clearTextReporter: { allowColor: false, reportTests: false },
    tempDirName: '.mutants',
    timeoutMS: 60_000,
    allowEmpty: true,
    disableTypeChecks: false,
    // Stryker would read it by TypeScript's API, which version 7 lacks.
    tsconfigFile: 'none',
    ignorePatterns: ['trials/visual'],
  })
  await stryker.runMutationTest()
}

function tryTriggers(): void {
  if (isNoticed('')) throw new Error('The tests fail without any mutant')
  const mutants = triggerMutants(Object.values(MIGRATIONS).join('\n'))
  let killed = 0
  for (const [name, sql] of mutants) {
    const isKilled = isNoticed(sql)
    console.log(`${isKilled ? 'killed' : 'survived'}: ${name}`)
    if (isKilled) killed++
  }
  console.log(`triggers: ${killed} of ${mutants.length} killed`)
  if (killed * 100 < mutants.length * GOAL_PERCENT) process.exitCode = 1
}

/** Returns a change without each trigger, and one without each statement of the functions. */
function triggerMutants(schema: string): [name: string, sql: string][] {
  const triggers = [...schema.matchAll(TRIGGER)].map(([, name, table]): [string, string] => [
    `trigger ${name}`,
    `DROP TRIGGER ${name} ON ${table}`,
  ])
  // A later migration may define a function anew.
  const definitions = new Map([...schema.matchAll(FUNCTION)].map((found) => [found[2], found[1]]))
  const statements = [...definitions].flatMap(([name, definition = '']) =>
    [...definition.matchAll(STATEMENT)].map(({ 0: statement, index }): [string, string] => [
      `${name}: ${statement.trim().split('\n')[0]}`,
      `CREATE OR REPLACE ${definition.slice(0, index)} NULL; ${definition.slice(index + statement.length)}`,
    ]),
  )
  return [...triggers, ...statements]
}

function isNoticed(sql: string): boolean {
  const tests = JSON.stringify(TRIGGER_TESTS)
  const env = { MUTANT_PROJECT: 'server', MUTANT_TESTS: tests, MUTANT_SQL: sql }
  const args = ['run', '--bail=1', `--config=${CONFIG}`]
  const { status } = spawnSync('node_modules/.bin/vitest', args, {
    env: { ...process.env, ...env },
  })
  return status !== 0
}
