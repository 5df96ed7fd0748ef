import { parseArgs } from 'node:util'
import { buildWebIfNeeded } from '../scripts/build-web-if-needed.ts'
import { executeOn } from '../server/testing/databases.ts'
import { dataSetOf } from './data-set.ts'
import { median, type Report, type Throttling, visit } from './lighthouse.ts'
import { startFilledProduct } from './measured-product.ts'
import { printMarkdown } from './table.ts'

type Named = { name: string; throttling: Throttling; report: Report }

/** Measures the pages on a phone over a slow network. Exits 1 if a score is under its goal. */
const { values } = parseArgs({
  options: {
    posts: { type: 'string', default: '2000' },
    runs: { type: 'string', default: '3' },
  },
})
const GOALS = { performance: 99, accessibility: 100, 'best-practices': 100, seo: 100 } as const
/** The largest contentful paint, in milliseconds. */
const LCP_GOALS: Record<Throttling, number> = { simulate: 1500, devtools: 1800 }
const PORT = 3211

await buildWebIfNeeded()
const dataSet = dataSetOf(Number(values.posts))
await using started = await startFilledProduct({ dataSet, port: PORT, prepare: findMostAnswered })
const { product, prepared: mostAnswered } = started

const reports: Named[] = []
for (const throttling of ['simulate', 'devtools'] as const) {
  for (const [name, path] of Object.entries({ wall: '/', post: `/posts/${mostAnswered}` })) {
    const visits: Report[] = []
    while (visits.length < Number(values.runs)) {
      visits.push(await visit(product.url + path, throttling))
    }
    reports.push({ name: `${name}, ${throttling}`, throttling, report: median(visits) })
  }
}
print(reports)
if (reports.some(isUnderGoal)) process.exitCode = 1

async function findMostAnswered(url: string): Promise<string> {
  const [post] = await executeOn<{ id: string }>(
    url,
    'SELECT id FROM posts WHERE replied_post_id IS NULL ORDER BY replies_count DESC, id LIMIT 1',
  )
  return post?.id ?? ''
}

/** Scores are those of the simulated visit, for which Lighthouse defines them. */
function isUnderGoal({ throttling, report }: Named): boolean {
  const isSlow = !(report.lcp <= LCP_GOALS[throttling]) || report.cls > 0
  if (throttling === 'devtools') return isSlow
  return (
    isSlow || Object.entries(GOALS).some(([category, goal]) => !(report[category as never] >= goal))
  )
}

function print(reports: Named[]): void {
  printMarkdown([
    ['', 'performance', 'accessibility', 'best practices', 'SEO', 'FCP', 'LCP', 'TBT', 'CLS', 'KB'],
    ['goal', ...Object.values(GOALS).map((goal) => `≥ ${goal}`), ...Array<string>(5).fill('')],
    ...reports.map(({ name, report }) => [name, ...cells(report)]),
  ])
  for (const { name, report } of reports)
    for (const fault of report.faults) console.log(`${name}: ${fault}`)
}

function cells(report: Report): string[] {
  const scores = Object.keys(GOALS).map((category) => String(report[category as never]))
  const { fcp, lcp, tbt, cls, bytes } = report
  const seconds = (ms: number) => `${(ms / 1000).toFixed(2)} s`
  return [
    ...scores,
    seconds(fcp),
    seconds(lcp),
    `${tbt.toFixed(0)} ms`,
    cls.toFixed(3),
    (bytes / 1000).toFixed(0),
  ]
}
