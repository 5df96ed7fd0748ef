import { spawn } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import lighthouse, { type Flags } from 'lighthouse'
import { CHROMIUM_FLAGS, findFullChromium } from '../e2e/testing/chromium.ts'
import { endChild, untilPrinted } from '../server/testing/child-process.ts'

const CATEGORIES = ['performance', 'accessibility', 'best-practices', 'seo'] as const
type Category = (typeof CATEGORIES)[number]

/** Scores out of 100, times in milliseconds, bytes on the wire. */
export type Report = Record<Category, number> & {
  fcp: number
  lcp: number
  tbt: number
  cls: number
  bytes: number
  /** The audits that lowered a score other than performance. */
  faults: string[]
}

const FLAGS = ['--headless', '--remote-debugging-port=0', ...CHROMIUM_FLAGS]

/** A trace can fail on a busy machine, which says nothing about the page. */
const ATTEMPTS = 3

/** `simulate` computes a slow network from a fast visit; `devtools` slows the visit itself down. */
export type Throttling = 'simulate' | 'devtools'

/** Visits a page once as a phone on a slow network, in a fresh browser profile. */
export async function visit(
  url: string,
  throttlingMethod: Throttling,
  attempts = ATTEMPTS,
): Promise<Report> {
  const browser = await startBrowser()
  const { port } = browser
  const flags: Flags = {
    port,
    onlyCategories: [...CATEGORIES],
    logLevel: 'error',
    throttlingMethod,
  }
  const result = await lighthouse(url, flags).finally(browser.close)
  const error = result?.lhr.runtimeError
  if (result && !error) return readReport(result.lhr)
  if (attempts > 1) return visit(url, throttlingMethod, attempts - 1)
  throw new Error(error?.message ?? `Lighthouse returned no report on ${url}`)
}

/** The median by performance, with the faults of all reports. */
export function median(reports: Report[]): Report {
  const sorted = reports.toSorted((a, b) => a.performance - b.performance || b.lcp - a.lcp)
  const middle = sorted[Math.floor(sorted.length / 2)]
  if (!middle) throw new Error('no visit was made')
  return { ...middle, faults: [...new Set(reports.flatMap(({ faults }) => faults))] }
}

type Result = NonNullable<Awaited<ReturnType<typeof lighthouse>>>['lhr']

function readReport({ categories, audits }: Result): Report {
  const score = (category: Category) => Math.round((categories[category]?.score ?? 0) * 100)
  const metric = (id: string) => audits[id]?.numericValue ?? Number.NaN
  const faults = CATEGORIES.filter((category) => category !== 'performance').flatMap((category) =>
    (categories[category]?.auditRefs ?? [])
      .filter(({ id, weight }) => weight > 0 && (audits[id]?.score ?? 1) < 1)
      .map(({ id }) => `${category}: ${audits[id]?.title ?? id}`),
  )
  return {
    performance: score('performance'),
    accessibility: score('accessibility'),
    'best-practices': score('best-practices'),
    seo: score('seo'),
    fcp: metric('first-contentful-paint'),
    lcp: metric('largest-contentful-paint'),
    tbt: metric('total-blocking-time'),
    cls: metric('cumulative-layout-shift'),
    bytes: metric('total-byte-weight'),
    faults,
  }
}

/** The sandbox is off only for root. */
async function startBrowser() {
  const profile = await mkdtemp(join(tmpdir(), 'vslukh-bench-web-'))
  const sandbox = process.getuid?.() === 0 ? ['--no-sandbox'] : []
  const browser = spawn(
    await findFullChromium(),
    [...FLAGS, ...sandbox, `--user-data-dir=${profile}`, 'about:blank'],
    { stdio: ['ignore', 'ignore', 'pipe'] },
  )
  const [, port] = await untilPrinted(browser, /^DevTools listening on ws:\/\/[^:]+:(\d+)/)
  return {
    port: Number(port),
    async close() {
      await endChild(browser)
      await rm(profile, { recursive: true, force: true, maxRetries: 5 })
    },
  }
}
