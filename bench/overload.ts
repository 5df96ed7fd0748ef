import { setTimeout as delay } from 'node:timers/promises'
import { askOnce, type CrowdResult, openCrowd, sendNewcomers } from '../server/testing/crowd.ts'
import type { DataSet } from './data-set.ts'
import { quantile } from './load.ts'
import { printMarkdown } from './table.ts'

type Observed = { url: string; rss: () => number; cpu: () => number }
type People = { dataSet: DataSet; tokens: string[] }
type Kind = { name: string; request: () => string }

/** This many callers keep the server's core busy, so that what they are served is its capacity. */
const ENOUGH = 200
const CROWD = 2000
const CAPACITY_SECONDS = 5
/** The interval at which newcomers call, besides the crowd. */
const NEWCOMER_MS = 10
const MEMORY_SAMPLE_MS = 250
const NORMAL_MS = 100
const CALM_MS = 3000

/** Measures the capacity for each kind of read, and its share while 2,000 callers ask. */
export async function measureOverload(
  product: Observed,
  { seconds, only, ...people }: People & { seconds: number; only: string },
): Promise<void> {
  const rows: string[][] = []
  for (const kind of kindsOf(people)) {
    if (kind.name.includes(only)) rows.push(await measure(product, kind, seconds))
  }
  printMarkdown([HEAD, GOALS, ...rows])
}

const HEAD = [
  `${CROWD} callers`,
  'carried/s',
  'served/s',
  'share',
  'refused/s',
  'newcomers served',
  'p50, ms',
  'p99, ms',
  'CPU each, µs',
  'before, µs',
  'RSS, MiB',
  'normal after, ms',
  'other answers',
]
const GOALS = ['goal', '', '', '≥ 0.70', '', '≥ 80 %', '', '≤ 1000', '', '', '≤ 350', '≤ 1000', '0']

function kindsOf({ dataSet, tokens }: People): Kind[] {
  let turn = 0
  const token = () => tokens[turn++ % tokens.length]
  const post = () => 1 + Math.floor(Math.random() * dataSet.posts)
  return [
    { name: 'wall, visitor', request: () => get('/posts?limit=10') },
    { name: 'wall, signed in', request: () => get('/posts?limit=10', token()) },
    { name: 'any post, visitor', request: () => get(`/posts/${post()}`) },
    { name: 'any post, signed in', request: () => get(`/posts/${post()}`, token()) },
  ]
}

function get(path: string, token?: string): string {
  const authorization = token === undefined ? '' : `Authorization: Bearer ${token}\r\n`
  return `GET /api/v1${path} HTTP/1.1\r\nHost: bench\r\n${authorization}\r\n`
}

async function measure(product: Observed, kind: Kind, seconds: number): Promise<string[]> {
  const { url } = product
  const before = await crowdFor(CAPACITY_SECONDS, { product, connections: ENOUGH, ...kind })
  const stopWatching = watchMemory(product)
  const newcomers = sendNewcomers(url, { everyMs: NEWCOMER_MS, ...kind })
  const load = await crowdFor(seconds, { product, connections: CROWD, ...kind })
  const newcomersServed = await newcomers.stop()
  const normalAfter = await untilNormal(url, kind)
  const rss = stopWatching()

  const times = load.times.sort((a, b) => a - b)
  const refused = (load.statuses.get(503) ?? 0) + (load.statuses.get(429) ?? 0)
  return [
    kind.name,
    before.rate.toFixed(0),
    load.rate.toFixed(0),
    (load.rate / before.rate).toFixed(2),
    (refused / seconds).toFixed(0),
    `${(newcomersServed * 100).toFixed(1)} %`,
    quantile(times, 0.5).toFixed(0),
    quantile(times, 0.99).toFixed(0),
    load.cpu.toFixed(0),
    before.cpu.toFixed(0),
    rss.toFixed(0),
    normalAfter.toFixed(0),
    String(others(load)),
  ]
}

/** Returns the crowd's tally, the requests served a second, and the CPU time (µs) for each. */
async function crowdFor(
  seconds: number,
  { product, ...options }: { product: Observed; connections: number } & Kind,
) {
  const cpuBefore = product.cpu()
  const crowd = openCrowd({ url: product.url, ...options })
  await delay(seconds * 1000)
  const result = await crowd.stop()
  const served = result.statuses.get(200) ?? 0
  return { ...result, rate: served / seconds, cpu: (product.cpu() - cpuBefore) / served }
}

/** Returns the function that stops the sampling and returns the maximum, in MiB. */
export function watchMemory({ rss }: Pick<Observed, 'rss'>): () => number {
  let most = rss()
  const timer = setInterval(() => {
    most = Math.max(most, rss())
  }, MEMORY_SAMPLE_MS)
  return () => {
    clearInterval(timer)
    return most
  }
}

/** Returns the milliseconds until every newcomer is served quickly. */
async function untilNormal(url: string, { request }: Kind): Promise<number> {
  const began = performance.now()
  let normalSince = 0
  while (performance.now() - began < CALM_MS) {
    const { status, ms } = await askOnce(url, request())
    if (status !== 200 || ms > NORMAL_MS) normalSince = performance.now() - began
  }
  return normalSince
}

/** Counts answers with a status that a busy server may not use, and requests without an answer. */
function others({ statuses, lost }: CrowdResult): number {
  const known = [200, 429, 503].map((status) => statuses.get(status) ?? 0)
  const all = [...statuses.values()].reduce((sum, count) => sum + count, 0)
  return all - known.reduce((sum, count) => sum + count, 0) + lost
}
