import lighthouse from 'lighthouse'
import { launchFullChromium } from '../e2e/testing/browsers/chromium.ts'
import { freePort } from '../server/testing/process/free-port.ts'
import { dataSetOf } from './data-set.ts'
import { middleOf } from './load.ts'
import { startFilledProduct } from './measured-product.ts'
import { goalCell, printMarkdown } from './table.ts'

/** Measures the pages on a phone over a slow network. */
const POSTS = 2000
const VISITS = 3
const SCORES = { performance: 99, accessibility: 100, 'best-practices': 100, seo: 100 }
/** In milliseconds. `simulate` computes a slow network; `devtools` slows the visit down. */
const LCP_GOALS = { simulate: 1500, devtools: 1800 } as const
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
