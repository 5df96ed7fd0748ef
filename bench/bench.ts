import { writeFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { cpus, tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { executeOn } from '../server/testing/databases.ts'
import { signInUsers } from './access-tokens.ts'
import { measureBesideWrites } from './beside-writes.ts'
import { dataSetOf } from './data-set.ts'
import { applyLoad, type Load, median, middleOf, read, timesOf } from './load.ts'
import { startFilledProduct, startProduct, startScript } from './measured-product.ts'
import { measureOverload } from './overload.ts'
import { LOAD_CORE, pin, SERVER_CORE } from './pin.ts'
import { type BareWrite, type Scenario, scenarios } from './scenarios.ts'
import { fillThreads, measureScraped, SCRAPED_ENV } from './scraped.ts'
import { goalCell, printMarkdown } from './table.ts'

const { values } = parseArgs({
  options: {
    posts: { type: 'string', default: '10000' },
    seconds: { type: 'string' },
    rounds: { type: 'string', default: '3' },
    only: { type: 'string', default: '' },
    overload: { type: 'boolean', default: false },
    'beside-writes': { type: 'boolean', default: false },
    scraped: { type: 'boolean', default: false },
  },
})
const { only } = values
const seconds = Number(values.seconds ?? (values.overload ? 30 : values.scraped ? 15 : 5))
const rounds = Number(values.rounds)
const SIGNED_IN = 400
const PORT = 3210
/** How many uncached pages are requested. */
const MISSES = 200
const HEAD = ['', 'requests/s', 'limit/s', 'ratio', 'goal', 'p50, ms', 'p99, ms', 'CPU, µs']

const dataSet = dataSetOf(Number(values.posts))
console.log(
  `${cpus()[0]?.model}, ${cpus().length} cores; Node ${process.version}; ${new Date().toISOString()}`,
)
console.log(`${dataSet.posts} posts, ${dataSet.users} users, ${dataSet.likes} likes; filling…`)
const env = values.scraped ? SCRAPED_ENV : {}
await using started = await startFilledProduct({ dataSet, port: PORT, env, prepare })
const { product, prepared } = started
const { databaseUrl, tokens, firstThread } = prepared
// Pinned after its start, so that its PostgreSQL may run on any core.
pin(product.pid, SERVER_CORE)

// Each exits 1 if a goal is missed, except the overload, whose goals depend on the machine too.
if (values.overload) await measureOverload(product, { seconds, only, dataSet, tokens })
else if (values['beside-writes']) {
  await measureBesideWrites(product, { seconds, rounds, only, dataSet, tokens })
} else if (values.scraped) {
  await measureScraped(product, { seconds, firstThread, dataSet, tokens })
} else await measureRatios()

/** Prepares users and threads, and pins the load to its core, before the product runs. */
async function prepare(url: string) {
  const tokens = await signInUsers(url, SIGNED_IN)
  const firstThread = values.scraped ? await fillThreads(url, seconds) : 0
  const isPinned = pin(process.pid, LOAD_CORE)
  console.log(
    isPinned ? 'Server on core 0, load on core 1.' : 'Not pinned: the ratios mean little.',
  )
  return { databaseUrl: url, tokens, firstThread }
}

/** Measures the product's share of the physical limit, scenario by scenario. */
async function measureRatios(): Promise<void> {
  const rows: string[][] = []
  for (const scenario of scenarios(dataSet, tokens)) {
    if (!scenario.name.includes(only)) continue
    const row = await measure(scenario)
    rows.push(row)
    console.log(row.join(', '))
  }
  printMarkdown([HEAD, ...rows])
  console.log(
    `\nRSS ${product.rss().toFixed(0)} MiB after the load; ready in ${product.readyMs.toFixed(0)} ms.`,
  )
  await measureMisses()
  await checkCounts()
  console.log(`Cold start of a fresh one: ${(await coldStart()).toFixed(0)} ms.`)
}

/** Measures limit and product in turn, as the machine's speed varies; returns the median round. */
async function measure({ name, goal, bareWrite, inFlight, request }: Scenario): Promise<string[]> {
  const results: { load: Load; limit: number; cpu: number }[] = []
  for (let round = 0; round < rounds; round++) {
    const limit = await (bareWrite ? bareWrites(bareWrite) : bareReads(request))
    const cpuBefore = product.cpu()
    const load = await applyLoad({ url: product.url, seconds, request, inFlight })
    if (load.failed > 0) console.log(`${name}: ${load.failed} of ${load.requests} failed`)
    results.push({ load, limit, cpu: (product.cpu() - cpuBefore) / load.requests })
  }
  const { load, limit, cpu } = middleOf(results, ({ load, limit }) => load.rps / limit)
  const ratio = load.rps / limit
  return [
    name,
    load.rps.toFixed(0),
    limit.toFixed(0),
    ratio.toFixed(2),
    goalCell(ratio, '≥', goal),
    load.p50.toFixed(load.p50 < 10 ? 1 : 0),
    String(load.p99),
    cpu.toFixed(0),
  ]
}

/** Returns the requests a second of a bare server with the same bytes. */
async function bareReads(request: Scenario['request']): Promise<number> {
  const [first] = [request].flat()
  if (!first || typeof first === 'function') throw new Error('a read asks the same each time')
  const { path = '/', headers } = first
  const answer = await read(product.url + path, headers as Record<string, string>)
  const file = join(tmpdir(), `vslukh-bare-${process.pid}.json`)
  const { date: _, connection: __, 'keep-alive': ___, ...rest } = answer.headers
  writeFileSync(file, JSON.stringify({ headers: rest, body: answer.body.toString('base64') }))
  const bare = await startScript('bare-server.ts', [file])
  const { rps } = await applyLoad({ url: `http://127.0.0.1:${bare.line}`, seconds, request })
  await bare.stop()
  return rps
}

/** Returns the statements a second of a bare loop. */
async function bareWrites({ kind, connections }: BareWrite): Promise<number> {
  const { users, posts } = dataSet
  const args = [databaseUrl, kind, ...[seconds, users, posts, connections].map(String)]
  const bare = await startScript('bare-writes.ts', args)
  await bare.stop()
  return Number(bare.line)
}

/** Measures a page that is not cached, and the JSON that it is made from. */
async function measureMisses(): Promise<void> {
  const ids = Array.from({ length: MISSES }, (_, n) => dataSet.posts - n)
  const pages = await timesOf(
    ids.map((id) => `${product.url}/posts/${id}`),
    { 'accept-encoding': 'br' },
  )
  const reads = await timesOf(
    ids.map((id) => `${product.url}/api/v1/posts/${id - MISSES}`),
    {},
  )
  console.log(
    `Not cached, median of ${MISSES}: a post's page ${median(pages).toFixed(1)} ms, its JSON ${median(reads).toFixed(1)} ms.`,
  )
}

/** Milliseconds until the product is ready in an empty folder. */
async function coldStart(): Promise<number> {
  const empty = await mkdtemp(join(tmpdir(), 'vslukh-bench-'))
  const fresh = await startProduct(empty, PORT + 10)
  await fresh.stop()
  await rm(empty, { recursive: true, force: true })
  return fresh.readyMs
}

/** Compares the hot post's counter with its rows; exits 1 if they differ. */
async function checkCounts(): Promise<void> {
  const [hot] = await executeOn<{ counter: number; rows: number }>(
    databaseUrl,
    `SELECT p.likes_count AS counter, count(l.user_id)::int AS rows FROM posts p
     LEFT JOIN likes l ON l.post_id = p.id WHERE p.id = 1 GROUP BY p.likes_count`,
  )
  console.log(`The hot post: counter ${hot?.counter}, rows ${hot?.rows}.`)
  if (!hot || hot.counter !== hot.rows) process.exitCode = 1
}
