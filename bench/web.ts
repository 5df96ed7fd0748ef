import { setTimeout as delay } from 'node:timers/promises'
import lighthouse from 'lighthouse'
import { launchFullChromium } from '../e2e/testing/browsers/chromium.ts'
import { freePort } from '../server/testing/process/free-port.ts'
import { dataSetOf } from './data-set.ts'
import { middleOf } from './load.ts'
import { startFilledProduct } from './measured-product.ts'
import { goalCell, printMarkdown } from './table.ts'
import { startCountingProxy } from './wire.ts'

/** Measures the pages on a phone over a slow network, and what the next page takes from it. */
const POSTS = 2000
const VISITS = 3
const SCORES = { performance: 99, accessibility: 100, 'best-practices': 100, seo: 100 }
/** In milliseconds. `simulate` computes a slow network; `devtools` slows the visit down. */
const LCP_GOALS = { simulate: 1500, devtools: 1800 } as const
/** What a post takes in PieFed, the smallest of comparable software. */
const SECOND_PAGE_KB = 29
const QUIET_MS = 2000
type Throttling = keyof typeof LCP_GOALS

type Result = NonNullable<Awaited<ReturnType<typeof lighthouse>>>['lhr']

await using started = await startFilledProduct(dataSetOf(POSTS))
const { url } = started.product

const rows: string[][] = []
const faults = new Set<string>()
for (const throttling of ['simulate', 'devtools'] as const) {
  for (const [page, path] of Object.entries({ wall: '/', post: '/posts/1' })) {
    const visits: Result[] = []
    while (visits.length < VISITS) visits.push(await visit(url + path, throttling))
    for (const fault of visits.flatMap(faultsOf)) faults.add(`${page}, ${fault}`)
    const middle = middleOf(visits, (it) => metric(it, 'largest-contentful-paint'))
    rows.push([`${page}, ${throttling}`, ...cellsOf(middle, throttling)])
  }
}
printMarkdown([['', ...Object.keys(SCORES), 'FCP, s', 'LCP, s', 'goal, s', 'CLS', 'KB'], ...rows])
for (const fault of faults) console.log(fault)
printMarkdown([['on the wire', 'KB', 'goal'], ...(await measureWire())])

/** Opens the wall and two posts in one browser, the second one by its address in a new tab. */
async function measureWire(): Promise<string[][]> {
  const proxy = await startCountingProxy(url)
  await using browser = await launchFullChromium()
  const context = await browser.newContext({ viewport: { width: 390, height: 844 } })
  const page = await context.newPage()
  const first = await receive(() => page.goto(proxy.url))
  const pressed = await receive(() => page.locator('article time').first().click())
  const opened = await context.newPage()
  const reached = await receive(() => opened.goto(`${proxy.url}/posts/1`))
  proxy.stop()
  const goal = (kb: number) => goalCell(kb, '≤', SECOND_PAGE_KB)
  return [
    ['the first page', first.toFixed(1), ''],
    ['a post that was pressed', pressed.toFixed(1), goal(pressed)],
    ['a post in a new tab', reached.toFixed(1), goal(reached)],
  ]

  /** Returns what an act takes until nothing comes any more: the service worker fetches more later. */
  async function receive(act: () => Promise<unknown>): Promise<number> {
    const before = proxy.received()
    await act()
    let seen: number
    do {
      seen = proxy.received()
      await delay(QUIET_MS)
    } while (proxy.received() !== seen)
    return (seen - before) / 1000
  }
}

/** Lighthouse may fail to trace a page on a busy machine. */
async function visit(url: string, throttlingMethod: Throttling, attempts = 3): Promise<Result> {
  const port = await freePort()
  await using _browser = await launchFullChromium([`--remote-debugging-port=${port}`])
  const settings = { onlyCategories: Object.keys(SCORES), throttlingMethod }
  const result = await lighthouse(url, { port, logLevel: 'error', ...settings })
  const error = result?.lhr.runtimeError
  if (result && !error) return result.lhr
  if (attempts > 1) return visit(url, throttlingMethod, attempts - 1)
  throw new Error(error?.message ?? `Lighthouse returned no report on ${url}`)
}

function metric({ audits }: Result, id: string): number {
  return audits[id]?.numericValue ?? Number.NaN
}

/** Only the simulated visit has scores, for which Lighthouse defines them. */
function cellsOf(result: Result, throttling: Throttling): string[] {
  const scores = Object.entries(SCORES).map(([category, goal]) => {
    const score = Math.round((result.categories[category]?.score ?? 0) * 100)
    return throttling === 'simulate' ? `${score} ${goalCell(score, '≥', goal)}` : `${score}`
  })
  const seconds = (id: string) => metric(result, id) / 1000
  const lcp = seconds('largest-contentful-paint')
  return [
    ...scores,
    seconds('first-contentful-paint').toFixed(2),
    lcp.toFixed(2),
    goalCell(lcp, '≤', LCP_GOALS[throttling] / 1000),
    goalCell(metric(result, 'cumulative-layout-shift'), '≤', 0),
    seconds('total-byte-weight').toFixed(0),
  ]
}

/** Returns the audits that lowered a score other than performance. */
function faultsOf({ categories, audits }: Result): string[] {
  const { performance: _, ...others } = categories
  return Object.values(others).flatMap(({ id: category, auditRefs }) =>
    auditRefs
      .filter(({ id, weight }) => weight > 0 && (audits[id]?.score ?? 1) < 1)
      .map(({ id }) => `${category}: ${audits[id]?.title ?? id}`),
  )
}
