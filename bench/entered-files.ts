import { AsyncLocalStorage } from 'node:async_hooks'
import { mkdtemp, rm } from 'node:fs/promises'
import { Session } from 'node:inspector/promises'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { PassThrough } from 'node:stream'
import { parseArgs } from 'node:util'
import pg from 'pg'
import { createApp } from '../server/app.ts'
import { readConfig } from '../server/kernel/config/config.ts'
import { migrate } from '../server/kernel/db/migrate.ts'
import { createLogger } from '../server/kernel/log/logger.ts'
import { startEmbeddedPostgres } from '../server/operations/embedded-postgres/embedded-postgres.ts'
import { signInUsers } from './access-tokens.ts'
import { dataSetOf, seed } from './data-set.ts'
import { SECRET } from './measured-product.ts'

// Prints how many files of the server run a function in every request of a kind, by V8's coverage.
// Jobs and checks that happen to run beside a request do not count. `--list` prints the names too.
// Also prints how many statements come before a code is mailed. Exits 1 for too many of either.

const ROOT = join(import.meta.dirname, '..')
const TIMES = 4
/** Besides BEGIN, COMMIT and the one that queues the mail. */
const STATEMENTS_BEFORE_CODE = 5
/** What a newcomer opens to follow a request. */
const FILES_MOST: Record<string, number> = {
  'a like': 15,
  "a visitor's read that is cached": 8,
  "a visitor's read that is not cached": 16,
  'a page that is not cached': 20,
}
const { values } = parseArgs({ options: { list: { type: 'boolean', default: false } } })

const BEGIN_AND_COMMIT = 2
const statementsSent = new AsyncLocalStorage<{ count: number }>()
const DEVICE = { userAgent: 'Firefox', userAgentVersion: '140', os: 'Linux' }

countStatements()
await using started = new AsyncDisposableStack()
const dataDir = await mkdtemp(join(tmpdir(), 'vslukh-entered-'))
started.defer(() => rm(dataDir, { recursive: true, force: true }))
const postgres = await startEmbeddedPostgres({ dataDir, say() {}, onLost() {} })
started.defer(() => postgres.stop())
const databaseUrl = postgres.connectionString
await migrate(databaseUrl)
await seed(databaseUrl, dataSetOf(400))
const [token = ''] = await signInUsers(databaseUrl, 1)
const app = await createApp({
  config: readConfig({
    DATA_DIR: dataDir,
    RATE_LIMIT_SCALE: '100000',
    ACCESS_TOKEN_SECONDS: '86400',
    LOG_LEVEL: 'info',
  }),
  databaseUrl,
  secret: SECRET,
  transport: { destination: '', send: async () => '', canSendTo: async () => true },
  log: createLogger('info', new PassThrough().resume()),
  webFolder: join(ROOT, 'dist/web'),
})
started.defer(() => app.close())
const origin = await app.listen({ port: 0, host: '127.0.0.1' })
const headers = { authorization: `Bearer ${token}` }

/** Requests by their names; `n` differs each time. */
const REQUESTS: Record<string, (n: number) => Promise<Response>> = {
  'a like': (n) => fetch(`${origin}/api/v1/posts/${1 + 4 * n}/likes`, { method: 'POST', headers }),
  'publishing a post': (n) =>
    fetch(`${origin}/api/v1/posts`, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body: JSON.stringify({ text: `Запись ${n}` }),
    }),
  "a visitor's read that is cached": () => fetch(`${origin}/api/v1/posts`),
  'a page that is cached': () => fetch(`${origin}/`),
  "a visitor's read that is not cached": (n) => fetch(`${origin}/api/v1/posts/${100 + n}`),
  'a page that is not cached': (n) => fetch(`${origin}/posts/${200 + n}`),
}

const CODE_STARTS = {
  'a registration': ['/registrations', 'new@example.org'],
  'a sign-in': ['/logins', 'u1@example.org'],
} as const
for (const [what, [path, email]] of Object.entries(CODE_STARTS)) {
  const payload = { email, clientToken: 'bench', device: DEVICE }
  const sent = { count: -BEGIN_AND_COMMIT }
  // Asynchronous, because `inject` sends the call only when it is awaited.
  const { statusCode, body } = await statementsSent.run(sent, async () =>
    app.http.inject({ method: 'POST', url: `/api/v1${path}`, payload }),
  )
  if (statusCode !== 201) throw new Error(body)
  console.log(`${what}: ${sent.count} statements before its code is mailed`)
  if (sent.count > STATEMENTS_BEFORE_CODE) process.exitCode = 1
}

const session = new Session()
session.connect()
await session.post('Profiler.enable')
for (const [what, request] of Object.entries(REQUESTS)) {
  const entered = await enteredEachTime(request)
  console.log(`${what}: ${entered.length} files`)
  if (entered.length > (FILES_MOST[what] ?? Number.POSITIVE_INFINITY)) process.exitCode = 1
  if (values.list) console.log(entered.map((path) => `  ${path}`).join('\n'))
}
session.disconnect()

async function enteredEachTime(request: (n: number) => Promise<Response>): Promise<string[]> {
  const times = new Map<string, number>()
  // Warms up, because only the first requests of a kind make such things as a statement's text.
  for (const n of [TIMES, TIMES + 1]) await answered(request(n))
  for (let n = 0; n < TIMES; n++) {
    await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false })
    await answered(request(n))
    const { result } = await session.post('Profiler.takePreciseCoverage')
    await session.post('Profiler.stopPreciseCoverage')
    const called = result.filter(({ functions }) =>
      functions.some(({ ranges }) => ranges.some(({ count }) => count > 0)),
    )
    for (const { url } of called) times.set(url, (times.get(url) ?? 0) + 1)
  }
  const server = `file://${join(ROOT, 'server')}/`
  const files = [...times].filter(([url, n]) => url.startsWith(server) && n === TIMES)
  return files.map(([url]) => relative(ROOT, new URL(url).pathname)).sort()
}

async function answered(request: Promise<Response>): Promise<void> {
  const answer = await request
  await answer.arrayBuffer()
  if (!answer.ok) throw new Error(`${answer.url} answered ${answer.status}`)
}

/** Counts the statements of a call at the driver, without those of the queue and the change feed. */
function countStatements(): void {
  const { submit } = pg.Query.prototype as unknown as { submit: (connection: unknown) => unknown }
  Object.assign(pg.Query.prototype, {
    submit(this: { text?: string }, connection: unknown) {
      const sent = statementsSent.getStore()
      if (sent && !/graphile_worker|outbox|pg_notify|LISTEN/.test(this.text ?? '')) sent.count++
      return submit.call(this, connection)
    },
  })
}
