import { mkdtempDisposable } from 'node:fs/promises'
import { cpus, tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { measureBesideWrites } from './beside-writes.ts'
import { dataSetOf } from './data-set.ts'
import { applyLoad, type Load, middleOf, type Requests, send } from './load.ts'
import {
  LOAD_CORE,
  pin,
  SERVER_CORE,
  startFilledProduct,
  startProduct,
  startScript,
} from './measured-product.ts'
import { measureOverload } from './overload.ts'
import { type Scenario, scenarios, WALL } from './scenarios.ts'
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
const seconds = Number(values.seconds ?? (values.overload ? 20 : values.scraped ? 15 : 5))
const rounds = Number(values.rounds)
const HEAD = ['', 'requests/s', 'limit/s', 'ratio', 'goal', 'p99, ms', 'CPU, µs']

const dataSet = dataSetOf(Number(values.posts))
console.log(
  `${cpus()[0]?.model}, ${cpus().length} cores; Node ${process.version}; ${new Date().toISOString()}`,
)
// The product's PostgreSQL inherits the core of the load; the server gets the other.
const isPinned = pin(process.pid, LOAD_CORE)
console.log(isPinned ? 'Server on core 0, load on core 1.' : 'Not pinned: the ratios mean little.')
console.log(`${dataSet.posts} posts, ${dataSet.users} users, ${dataSet.likes} likes; filling…`)
await using started = await startFilledProduct(
  dataSet,
  values.scraped ? { env: SCRAPED_ENV, fill: (url) => fillThreads(url, dataSet, seconds) } : {},
)
const { product, databaseUrl, tokens } = started
pin(product.pid, SERVER_CORE)

// Each exits 1 if a goal is missed, except the overload, whose goals depend on the machine too.
const run = { product, seconds, rounds, only, dataSet, tokens }
if (values.overload) await measureOverload(run)
else if (values['beside-writes']) await measureBesideWrites(run)
else if (values.scraped) await measureScraped(run)
else await measureRatios()

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
  console.log(`Cold start of a fresh one: ${(await coldStart()).toFixed(0)} ms.`)
}

/** Measures limit and product in turn, as the machine's speed varies; returns the median round. */
async function measure({ name, goal, bareWrite, ...asked }: Scenario): Promise<string[]> {
  const results: { load: Load; limit: number; cpu: number; ratio: number }[] = []
  for (let round = 0; round < rounds; round++) {
    const limit = await (bareWrite
      ? measureBareWrites(bareWrite)
      : measureBareReads(asked.requests))
    const cpuBefore = product.cpu()
    const load = await applyLoad({ url: product.url, seconds, ...asked })
    if (load.failed > 0) console.log(`${name}: ${load.failed} of ${load.requests} failed`)
    const cpu = (product.cpu() - cpuBefore) / load.requests
    results.push({ load, limit, cpu, ratio: load.rps / limit })
  }
  const { load, limit, cpu, ratio } = middleOf(results, (result) => result.ratio)
  const speeds = [load.rps.toFixed(0), limit.toFixed(0), ratio.toFixed(2)]
  return [name, ...speeds, goalCell(ratio, '≥', goal), String(load.p99), cpu.toFixed(0)]
}

/** Returns the requests a second of a bare server with the same bytes. */
async function measureBareReads(requests: Requests): Promise<number> {
  const call = typeof requests === 'function' ? requests() : (requests[0]?.[0] ?? WALL)
  const { status, headers, body } = await send(product.url, call)
  if (status !== 200) throw new Error(`${call.path} answered ${status}`)
  const { date: _, connection: __, 'keep-alive': ___, ...own } = headers
  const base64 = body.toString('base64')
  const bare = await startScript('bare/server.ts', { headers: own, base64 })
  const { rps } = await applyLoad({ url: `http://127.0.0.1:${bare.number}`, seconds, requests })
  await bare.stop()
  return rps
}

/** Returns the statements a second of a bare loop. */
async function measureBareWrites(bareWrite: object): Promise<number> {
  const { users, posts } = dataSet
  const options = { url: databaseUrl, ...bareWrite, seconds, users, posts }
  const { number, stop } = await startScript('bare/writes.ts', options)
  await stop()
  return number
}

/** Returns the milliseconds until the product is ready in an empty folder. */
async function coldStart(): Promise<number> {
  await using empty = await mkdtempDisposable(join(tmpdir(), 'vslukh-bench-'))
  const fresh = await startProduct(empty.path)
  await fresh.stop()
  return fresh.readyMs
}
