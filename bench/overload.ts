import { applyLoad, type Call, send } from './load.ts'
import type { MeasuredProduct, Run } from './measured-product.ts'
import { openLoop } from './open-loop.ts'
import { oneOf, requestOf, signedIn, WALL } from './scenarios.ts'
import { printMarkdown } from './table.ts'

/** This many callers keep the server's core busy, so that what they are served is its capacity. */
const ENOUGH = 200
const CROWD = 2000
const READS = 40_000
/** Callers with a new connection each, besides the crowd. */
const NEWCOMERS_PER_SECOND = 100
const EXPECTED = ['200', '429', '503']

/** Measures the capacity for each kind of read, and its share while 2,000 callers ask. */
export async function measureOverload({ product, seconds, only, dataSet, tokens }: Run) {
  const anyPost = () => requestOf('GET', `/posts/${1 + Math.floor(Math.random() * dataSet.posts)}`)
  const reads = Array.from({ length: READS }, anyPost)
  const byUsers = (lists: Call[][]) =>
    lists.map((list, n) => list.map((read) => signedIn(read, tokens[n % tokens.length] ?? '')))
  // Few callers ask for the same posts as the crowd, so that as many answers come from the cache.
  const anyPosts = (callers: number) => {
    const each = READS / callers
    return Array.from({ length: callers }, (_, n) => reads.slice(n * each, (n + 1) * each))
  }
  const kinds: Record<string, (callers: number) => Call[][]> = {
    'wall, visitor': () => [[WALL]],
    'wall, signed in': () => byUsers(tokens.map(() => [WALL])),
    'any post, visitor': anyPosts,
    'any post, signed in': (callers) => byUsers(anyPosts(callers)),
  }
  const rows: string[][] = []
  for (const [name, requests] of Object.entries(kinds)) {
    if (name.includes(only)) rows.push([name, ...(await measure(product, requests, seconds))])
  }
  printMarkdown([HEAD, GOALS, ...rows])
}

const HEAD = [
  ...[`${CROWD} callers`, 'carried/s', 'served/s', 'share', 'newcomers served'],
  ...['p99, ms', 'RSS, MiB', 'other answers'],
]
const GOALS = ['goal', '', '', '≥ 0.70', '≥ 80 %', '≤ 1000', '≤ 350', '0']

async function measure(
  product: MeasuredProduct,
  listsOf: (callers: number) => Call[][],
  seconds: number,
) {
  const { url } = product
  const before = { url, requests: listsOf(ENOUGH), seconds, inFlight: ENOUGH }
  const carried = (await applyLoad(before)).servedPerSecond
  const requests = listsOf(CROWD)
  product.forgetPeak()
  const newcomers = openLoop(NEWCOMERS_PER_SECOND, () => send(url, oneOf(oneOf(requests))))
  const load = await applyLoad({ url, requests, seconds, inFlight: CROWD })
  const { sent, failed } = await newcomers.stop()
  const others = load.statuses.filter((status) => !EXPECTED.includes(status))
  return [
    carried.toFixed(0),
    load.servedPerSecond.toFixed(0),
    (load.servedPerSecond / carried).toFixed(2),
    `${((1 - failed / sent) * 100).toFixed(1)} %`,
    String(load.p99),
    product.peakRss().toFixed(0),
    [...others, ...(load.lost > 0 ? [`${load.lost} lost`] : [])].join() || '0',
  ]
}
