import { mkdtempDisposable } from 'node:fs/promises'
import { Session } from 'node:inspector/promises'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { startEmbeddedPostgres } from '../server/operations/embedded-postgres/embedded-postgres.ts'
import { startAt } from '../server/testing/calls/sign-in-calls.ts'
import { captureStatements } from '../server/testing/database/plans.ts'
import { startTestApp } from '../server/testing/test-app.ts'
import { dataSetOf, seed } from './data-set.ts'

// Prints how many files of the server run a function in every request of a kind, by V8's coverage,
// and how many statements come before a code is mailed. `--list` prints the files too.

const ROOT = join(import.meta.dirname, '..')
const TIMES = 8
/** Besides those of the queue. */
const STATEMENTS_BEFORE_CODE = 5

await using started = new AsyncDisposableStack()
const { path: dataDir } = started.use(await mkdtempDisposable(join(tmpdir(), 'vslukh-entered-')))
const postgres = await startEmbeddedPostgres({ dataDir, say() {} })
started.defer(() => postgres.stop())
const databaseUrl = postgres.connectionString
await seed(databaseUrl, dataSetOf(400))
const app = await startTestApp({ databaseUrl })
started.defer(() => app.close())
// No newcomer, who has further limits.
const { token } = await app.signIn('big2@example.org')

const api = (path: string, init?: RequestInit) => fetch(`${app.url}/api/v1${path}`, init)
const headers = { authorization: `Bearer ${token}` }

/** Each `n` differs. `most` is how many files a newcomer should open to follow the request. */
const REQUESTS: Record<string, [request: (n: number) => Promise<Response>, most?: number]> = {
  'a like': [(n) => api(`/posts/${1 + n}/likes`, { method: 'POST', headers }), 15],
  'publishing a post': [
    (n) =>
      api('/posts', {
        method: 'POST',
        headers: { ...headers, 'content-type': 'application/json' },
        body: JSON.stringify({ text: `Запись ${n}` }),
      }),
  ],
  "a visitor's read that is cached": [() => api('/posts'), 8],
  'a page that is cached': [() => fetch(`${app.url}/`)],
  "a visitor's read that is not cached": [(n) => api(`/posts/${100 + n}`), 16],
  'a page that is not cached': [(n) => fetch(`${app.url}/posts/${200 + n}`), 20],
}

for (const [path, email] of [
  ['/registrations', 'new@example.org'],
  ['/logins', 'big1@example.org'],
] as const) {
  // The last mail is sent in the background.
  while ((await app.sql`SELECT FROM outbox WHERE payload IS NOT NULL`).length > 0);
  const sent = await captureStatements(async () => {
    const { status } = await startAt(app, path, { email })
    if (status !== 201) throw new Error(`${path} answered ${status}`)
  })
  const { length } = sent.filter(({ text }) => !/graphile_worker|pg_notify/.test(text))
  console.log(`POST ${path}: ${length} statements before its code is mailed`)
  if (length > STATEMENTS_BEFORE_CODE) process.exitCode = 1
}

const session = new Session()
session.connect()
await session.post('Profiler.enable')
await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false })
for (const [what, [request, most = Number.POSITIVE_INFINITY]] of Object.entries(REQUESTS)) {
  const entered = await enteredEachTime(request)
  console.log(`${what}: ${entered.length} files`)
  if (entered.length > most) process.exitCode = 1
  if (process.argv.includes('--list')) console.log(entered.map((path) => `  ${path}`).join('\n'))
}
session.disconnect()

async function enteredEachTime(request: (n: number) => Promise<Response>): Promise<string[]> {
  // The first requests of a kind make such things as a statement's text.
  for (const n of [TIMES, TIMES + 1]) await answered(request(n))
  const times = new Map<string, number>()
  for (let n = 0; n < TIMES; n++) {
    // Begins to count anew.
    await session.post('Profiler.takePreciseCoverage')
    await answered(request(n))
    const { result } = await session.post('Profiler.takePreciseCoverage')
    for (const { url, functions } of result) {
      const isCalled = functions.some(({ ranges }) => ranges.some(({ count }) => count > 0))
      if (isCalled) times.set(url, (times.get(url) ?? 0) + 1)
    }
  }
  const product = `file://${join(ROOT, 'server')}/(?!testing/)`
  const files = [...times].filter(([url, n]) => url.match(product) && n === TIMES)
  return files.map(([url]) => relative(ROOT, new URL(url).pathname)).sort()
}

async function answered(request: Promise<Response>): Promise<void> {
  const answer = await request
  const text = await answer.text()
  if (!answer.ok) throw new Error(`${answer.url} answered ${answer.status}: ${text}`)
}
