import { readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { cpus, tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import type { Request } from 'autocannon'
import { migrate } from '../server/db/migrate.ts'
import { childrenOf, cpuOf } from '../server/testing/processes.ts'
import { startPrimary, startStandby } from '../server/testing/standby.ts'
import { signInUsers } from './access-tokens.ts'
import { dataSetOf, seed } from './data-set.ts'
import { applyLoad, middleOf } from './load.ts'
import { startProduct } from './measured-product.ts'
import { openLoop } from './open-loop.ts'
import { printMarkdown } from './table.ts'

/**
 * Compares reads of two nodes on one primary, of which the second one reads posts from a standby: throughput, and the processor time that
 * a read costs the primary. The load, both nodes and both databases share one machine.
 */
const { values } = parseArgs({
  options: {
    posts: { type: 'string', default: '10000' },
    seconds: { type: 'string', default: '3' },
    rounds: { type: 'string', default: '3' },
  },
})
const [seconds, rounds] = [Number(values.seconds), Number(values.rounds)]
const dataSet = dataSetOf(Number(values.posts))
const PORT = 3230
/** Somebody publishes so often, which invalidates what the nodes have cached. */
const PUBLISHED_PER_SECOND = 10

await using started = new AsyncDisposableStack()
const primary = await startPrimary()
started.defer(primary.close)
await migrate(primary.url)
await seed(primary.url, dataSet)
const tokens = await signInUsers(primary.url, 100)
const standby = await startStandby(primary)
started.defer(standby.close)
const alone = await startNode(PORT, {})
const withStandby = await startNode(PORT + 1, { DATABASE_REPLICA_URL: standby.url })
// The nodes have seen by then that the standby shows all that the primary has.
await delay(2000)

console.log(
  `${cpus()[0]?.model}, ${cpus().length} cores; Node ${process.version}; ${new Date().toISOString()}`,
)
const lines = []
for (const [name, request] of Object.entries(reads())) lines.push(await compare(name, request))
printMarkdown([
  [
    '',
    'reads/s',
    'with a standby: reads/s',
    'ratio',
    'primary’s CPU a read, µs',
    'with a standby: primary’s CPU',
  ],
  ...lines,
])

/** Reads that no cached response answers, or seldom. */
function reads(): Record<string, () => Request> {
  const any = (list: string[]) => list[Math.floor(Math.random() * list.length)]
  const post = () => 1 + Math.floor(Math.random() * dataSet.posts)
  const user = () => ({ authorization: `Bearer ${any(tokens)}` })
  return {
    'any post, visitor': () => get(`/posts/${post()}`),
    'any post, signed in': () => get(`/posts/${post()}`, user()),
    'the wall from any place, signed in': () => get(`/posts?cursor=${post()}`, user()),
    'wall, signed in': () => get('/posts?limit=10', user()),
  }
}

function get(path: string, headers: Record<string, string> = {}): Request {
  return { method: 'GET', path: `/api/v1${path}`, headers }
}

async function startNode(port: number, settings: Record<string, string>) {
  const dataDir = await mkdtemp(join(tmpdir(), 'vslukh-bench-'))
  started.defer(() => rm(dataDir, { recursive: true, force: true }))
  const node = await startProduct(dataDir, port, { DATABASE_URL: primary.url, ...settings })
  started.defer(() => node.stop())
  return node
}

/** Loads both nodes in turn, while somebody publishes; returns a line of the table, of medians. Throws where a post was not published. */
async function compare(name: string, request: () => Request): Promise<(string | number)[]> {
  const publishing = openLoop(withStandby.url, PUBLISHED_PER_SECOND, newPost)
  const results = { alone: [] as Measured[], withStandby: [] as Measured[] }
  for (let round = 0; round < rounds; round++) {
    results.alone.push(await measure(alone.url, request))
    results.withStandby.push(await measure(withStandby.url, request))
  }
  const { failed } = await publishing.stop()
  if (failed > 0) throw new Error(`${failed} posts were not published`)
  const [one, other] = [middle(results.alone), middle(results.withStandby)]
  return [
    name,
    one.rps.toFixed(0),
    other.rps.toFixed(0),
    (other.rps / one.rps).toFixed(2),
    one.cpu.toFixed(0),
    other.cpu.toFixed(0),
  ]
}

/** Somebody publishes where standbys are known: only such nodes tell where in the primary's log a change is. */
function newPost() {
  const headers = { authorization: `Bearer ${tokens[0]}`, 'content-type': 'application/json' }
  return { path: '/posts', headers, body: JSON.stringify({ text: 'Между чтениями' }) }
}

type Measured = { rps: number; cpu: number }

async function measure(url: string, request: () => Request): Promise<Measured> {
  const before = databaseCpu(primary.dataDir)
  const load = await applyLoad({ url, seconds, request })
  if (load.failed > 0) console.log(`${load.failed} of ${load.requests} reads failed`)
  return { rps: load.rps, cpu: (databaseCpu(primary.dataDir) - before) / load.requests }
}

function middle(turns: Measured[]): Measured {
  return middleOf(turns, ({ rps }) => rps)
}

/** The processor time of a PostgreSQL and of all its processes, those that have ended too, in microseconds. */
function databaseCpu(dataDir: string): number {
  const file = readFileSync(join(dataDir, 'postgres/postmaster.pid'), 'utf8')
  const postmaster = Number(file.split('\n', 1)[0])
  const { own, ofEnded } = cpuOf(postmaster)
  return childrenOf(postmaster).reduce((sum, pid) => sum + cpuOf(pid).own, own + ofEnded)
}
