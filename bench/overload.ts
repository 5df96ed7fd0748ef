import { setTimeout as delay } from 'node:timers/promises'
import { askOnce, type CrowdResult, openCrowd, sendNewcomers } from '../server/testing/crowd.ts'
import type { DataSet } from './data-set.ts'
import { quantile } from './load.ts'
import { printMarkdown } from './table.ts'

type Observed = { url: string; rss: () => number; cpu: () => number }
type People = { dataSet: DataSet; tokens: string[] }
type NewRequest = () => string

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
  for (const [name, request] of Object.entries(requestsOf(people))) {
    if (name.includes(only)) rows.push([name, ...(await measure(product, request, seconds))])
  }
  printMarkdown([HEAD, GOALS, ...rows])
}

const HEAD = [
  `${CROWD} callers`,
  'carried/s',
  'served/s',
  'share',
  'newcomers served',
  'p99, ms',
  'before, µs',
  'RSS, MiB',
  'normal after, ms',
  'other answers',
]
const GOALS = ['goal', '', '', '≥ 0.70', '≥ 80 %', '≤ 1000', '', '≤ 350', '≤ 1000', '0']

function requestsOf({ dataSet, tokens }: People): Record<string, NewRequest> {
  let turn = 0
  const token = () => tokens[turn++ % tokens.length]
  const post = () => 1 + Math.floor(Math.random() * dataSet.posts)
  return {
    'wall, visitor': () => get('/posts?limit=10'),
    'wall, signed in': () => get('/posts?limit=10', token()),
    'any post, visitor': () => get(`/posts/${post()}`),
    'any post, signed in': () => get(`/posts/${post()}`, token()),
  }
}

function get(path: string, token?: string): string {
  const authorization = token === undefined ? '' : `Authorization: Bearer ${token}\r\n`
  return `GET /api/v1${path} HTTP/1.1\r\nHost: bench\r\n${authorization}\r\n`
}

async function measure(product: Observed, request: NewRequest, seconds: number): Promise<string[]> {
  const { url } = product
  const cpuBefore = product.cpu()
  const before = await crowdFor(CAPACITY_SECONDS, { url, connections: ENOUGH, request })
  const cpu = (product.cpu() - cpuBefore) / before.times.length
  const carried = before.times.length / CAPACITY_SECONDS
  const stopWatching = watchMemory(product)
  const newcomers = sendNewcomers(url, { everyMs: NEWCOMER_MS, request })
  const load = await crowdFor(seconds, { url, connections: CROWD, request })
  const served = load.times.length / seconds
  const newcomersServed = await newcomers.stop()
  const normalAfter = await untilNormal(url, request)
  const times = load.times.sort((a, b) => a - b)
  return [
    carried.toFixed(0),
    served.toFixed(0),
    (served / carried).toFixed(2),
    `${(newcomersServed * 100).toFixed(1)} %`,
    quantile(times, 0.99).toFixed(0),
    cpu.toFixed(0),
    stopWatching().toFixed(0),
    normalAfter.toFixed(0),
    String(others(load)),
  ]
}

async function crowdFor(
  seconds: number,
  options: Parameters<typeof openCrowd>[0],
): Promise<CrowdResult> {
  const crowd = openCrowd(options)
  await delay(seconds * 1000)
  return crowd.stop()
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
async function untilNormal(url: string, request: NewRequest): Promise<number> {
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
  const unexpected = [...statuses].filter(([status]) => ![200, 429, 503].includes(status))
  return unexpected.reduce((sum, [, count]) => sum + count, lost)
}
