export type Row = {
  name: string
  rps: number
  limit: number
  ratio: number
  goal: number
  p50: number
  p99: number
  /** CPU time of the server for a request, in microseconds. */
  cpu: number
  /** The same of the server that it is compared with. */
  limitCpu: number | undefined
  queries: number
}

const HEAD = [
  '',
  'requests/s',
  'limit/s',
  'ratio',
  'goal',
  'p50, ms',
  'p99, ms',
  'CPU, µs',
  'limit’s CPU, µs',
  'queries',
]

export function printTable(rows: Row[]): void {
  const lines = rows.map((row) => [
    row.name,
    row.rps.toFixed(0),
    row.limit.toFixed(0),
    row.ratio.toFixed(2),
    goalCell(row.ratio, '≥', row.goal),
    row.p50.toFixed(row.p50 < 10 ? 1 : 0),
    row.p99,
    row.cpu.toFixed(0),
    row.limitCpu?.toFixed(0) ?? '',
    row.queries,
  ])
  printMarkdown([HEAD, ...lines])
}

/** Marks a figure that misses its goal; the command exits 1 then. */
export function goalCell(figure: number, sign: '≥' | '≤', goal: number): string {
  const isMet = sign === '≥' ? figure >= goal : figure <= goal
  if (!isMet) process.exitCode = 1
  return `${sign} ${goal}${isMet ? '' : ': not met'}`
}

/** The first line is the table's head. */
export function printMarkdown([head = [], ...lines]: (string | number)[][]): void {
  console.log('')
  for (const line of [head, head.map(() => '---'), ...lines]) console.log(`| ${line.join(' | ')} |`)
}
