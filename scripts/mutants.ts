import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { Stryker } from '@stryker-mutator/core'
import { printMarkdown } from '../bench/table.ts'
import { openDatabase } from '../server/kernel/db/database.ts'
import { migrate } from '../server/kernel/db/migrate.ts'
import { startEmbeddedPostgres } from '../server/operations/embedded-postgres/embedded-postgres.ts'
import { buildWebIfNeeded } from './build-web-if-needed.ts'
import { setup as keepFilesInMemory } from './memory-setup.ts'
import { NAMED_MUTANTS } from './named-mutants.ts'
import { triggerMutants } from './trigger-mutants.ts'

/**
 * Changes the product in many small ways, one at a time, and checks whether the nearest tests fail.
 * Exits 1 if they notice fewer mutants than the goal, if an unnoticed mutant has no reason in
 * named-mutants.ts, or if a mutant there is noticed or gone. Arguments name the groups to try.
 */
const GOAL = 0.85
const CONFIG = 'vitest.mutants.config.ts'

type Group = {
  /** Stryker changes these files. */
  files: string[]
  project: 'unit' | 'server'
  tests: string[]
}

const GROUPS: Record<string, Group> = {
  contract: {
    files: ['account-rules', 'dates', 'pages', 'post-rules', 'search-rules', 'text'].map(
      (name) => `contract/${name}.ts`,
    ),
    project: 'unit',
    tests: ['contract/*.test.ts', 'web/{format,pages,start}/*.test.{ts,tsx}'],
  },
  caches: {
    files: ['web/posts/cache/list-cache.ts', 'web/posts/cache/post-cache.ts'],
    project: 'unit',
    tests: ['web/posts/cache/*.test.ts', 'web/likes/*.test.ts'],
  },
  codes: {
    files: ['server/features/codes/*.ts', '!**/*.{test,fixture}.ts'],
    project: 'server',
    tests: [
      'server/features/codes/*.test.ts',
      'server/features/account/email-undo.test.ts',
      'server/features/sign-in/{invalid-emails,limits,mail-limits}.test.ts',
    ],
  },
  sessions: {
    files: ['server/features/sessions/*.ts', '!**/*.{test,fixture}.ts'],
    project: 'server',
    tests: [
      'server/features/sessions/*.test.ts',
      'server/features/sign-in/{mail-limits,sign-in-notice}.test.ts',
      'server/features/account/email-undo.test.ts',
      'server/kernel/cache/{response-cache,signed-in-reads}.test.ts',
      'server/features/posts/recent-sessions.test.ts',
      'server/kernel/limits/newcomers.test.ts',
      'server/kernel/log/attack-log.test.ts',
      'server/retention.test.ts',
    ],
  },
  limits: {
    files: ['server/kernel/limits/*.ts', '!**/*.{test,fixture}.ts'],
    project: 'server',
    tests: ['server/kernel/limits/*.test.ts', 'server/features/codes/code-quota.test.ts'],
  },
}

/** The later tests are slower, and run if the earlier ones notice nothing. */
const TRIGGER_TESTS = [
  [
    'server/features/posts/counters.test.ts',
    'server/features/likes/*.test.ts',
    'server/kernel/cache/unheard-changes.test.ts',
  ],
  [
    'server/features/moderation/{hiding,left-authors,moving-posts}.test.ts',
    'server/features/account-deletion/{account-deletion,erasure}.test.ts',
  ],
]

type Score = {
  group: string
  killed: number
  all: number
  survivors: string[]
  /** The test that noticed a mutant, and its message, by the mutant's name. */
  noticed?: Map<string, string>
}

const chosen = process.argv.slice(2)
const isChosen = (group: string) => chosen.length === 0 || chosen.includes(group)
const scores: Score[] = []
// The server's tests serve the built web, also in Stryker's copy of the repository.
await buildWebIfNeeded()
// A test run that Stryker kills, because it takes too long, cannot remove its files.
keepFilesInMemory()
for (const [name, group] of Object.entries(GROUPS)) {
  if (isChosen(name)) scores.push(await tryFiles(name, group))
}
if (isChosen('triggers')) scores.push(await tryTriggers())

printMarkdown([
  ['', 'mutants', 'killed', 'share'],
  ...scores.map(({ group, killed, all }) => [group, all, killed, (killed / all).toFixed(2)]),
])
for (const { group, killed, all, survivors, noticed } of scores) {
  const reasons = Object.entries(NAMED_MUTANTS[group] ?? {})
  const named = new Set(reasons.flatMap(([, names]) => names))
  const unnamed = survivors.filter((name) => !named.has(name))
  const inVain = [...named].filter((name) => !survivors.includes(name))
  for (const [reason, names] of reasons) list(`${group}, not noticed: ${reason}`, names)
  list(`${group}, not noticed, and without a reason`, unnamed)
  const withCause = inVain.map((name) => `${name}\n    ${noticed?.get(name) ?? 'gone'}`)
  list(`${group}, named, but noticed or gone`, withCause)
  if (killed / all < GOAL || unnamed.length > 0 || inVain.length > 0) process.exitCode = 1
}

function list(title: string, names: string[]): void {
  if (names.length > 0) console.log(`\n${title}:\n${names.join('\n')}`)
}

async function tryFiles(group: string, { files, project, tests }: Group): Promise<Score> {
  Object.assign(process.env, { MUTANT_PROJECT: project, MUTANT_TESTS: JSON.stringify(tests) })
  const stryker = new Stryker({
    mutate: files,
    testRunner: 'vitest',
    plugins: ['@stryker-mutator/vitest-runner'],
    vitest: { configFile: CONFIG, related: false },
    coverageAnalysis: 'perTest',
    // Code that runs once, when its module is loaded, cannot be assigned to a test.
    ignoreStatic: true,
    // Tests wait for the database and for mails half of the time.
    concurrency: 2,
    reporters: ['progress-append-only'],
    tempDirName: '.mutants',
    timeoutMS: 60_000,
    allowEmpty: true,
    disableTypeChecks: false,
    // Stryker would read it by TypeScript's API, which version 7 lacks.
    tsconfigFile: 'none',
    ignorePatterns: ['trials/visual'],
  })
  const found = await stryker.runMutationTest()
  const tried = found.filter(({ status }) => status !== 'Ignored' && status !== 'CompileError')
  const survivors = tried.filter(({ status }) => status === 'Survived' || status === 'NoCoverage')
  return {
    group,
    all: tried.length,
    killed: tried.length - survivors.length,
    survivors: survivors.map(nameOf),
    noticed: new Map(tried.map((mutant) => [nameOf(mutant), causeOf(mutant)])),
  }
}

type Mutant = Awaited<ReturnType<Stryker['runMutationTest']>>[number]

/** Names a mutant by its lines, which stay the same when others change. */
function nameOf({ fileName, location: { start, end }, replacement = '' }: Mutant): string {
  const lines = readFileSync(fileName, 'utf8')
    .split('\n')
    .slice(start.line - 1, end.line)
  const before = lines[0]?.slice(0, start.column - 1) ?? ''
  const after = lines.at(-1)?.slice(end.column - 1) ?? ''
  const original = lines.join('\n').slice(before.length, after === '' ? undefined : -after.length)
  return `${relative('.', fileName)}: ${before.trimStart()}⟦${brief(original)} → ${brief(replacement)}⟧${after}`
}

function causeOf({ killedBy = [], status, statusReason = status }: Mutant): string {
  return brief(`${killedBy.join()}: ${statusReason}`, 500)
}

function brief(text: string, length = 60): string {
  const line = text.replaceAll(/\s+/g, ' ')
  return line.length > length ? `${line.slice(0, length - 1)}…` : line
}

async function tryTriggers(): Promise<Score> {
  if (isNoticed('')) throw new Error('The tests fail without any mutant')
  const mutants = await withDatabase(triggerMutants)
  const survivors: string[] = []
  for (const { name, sql } of mutants) {
    const isKilled = isNoticed(sql)
    console.log(`${isKilled ? 'killed' : 'survived'}: ${name}`)
    if (!isKilled) survivors.push(name)
  }
  const all = mutants.length
  return { group: 'triggers', all, killed: all - survivors.length, survivors }
}

/** Whether a test fails with this change of the database. */
function isNoticed(sql: string): boolean {
  return TRIGGER_TESTS.some((tests) => {
    const env = { MUTANT_PROJECT: 'server', MUTANT_TESTS: JSON.stringify(tests), MUTANT_SQL: sql }
    const args = ['run', '--bail=1', `--config=${CONFIG}`]
    return (
      spawnSync('node_modules/.bin/vitest', args, { env: { ...process.env, ...env } }).status !== 0
    )
  })
}

async function withDatabase<T>(
  work: (db: ReturnType<typeof openDatabase>['db']) => Promise<T>,
): Promise<T> {
  const dataDir = await mkdtemp(join(tmpdir(), 'vslukh-mutants-'))
  const { connectionString, stop } = await startEmbeddedPostgres({ dataDir, say() {}, onLost() {} })
  await migrate(connectionString)
  const { db, close } = openDatabase(connectionString, () => {})
  try {
    return await work(db)
  } finally {
    await close()
    await stop()
    await rm(dataDir, { recursive: true, force: true })
  }
}
