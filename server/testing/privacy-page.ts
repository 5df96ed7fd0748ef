import { readFileSync } from 'node:fs'
import { join } from 'node:path'

const page = readFileSync(join(import.meta.dirname, '../../docs/privacy.md'), 'utf8')

export function privacySection(heading: string): string {
  return page.split(`## ${heading}\n`)[1]?.split('\n## ')[0] ?? ''
}

export function quoted(text: string): string[] {
  return [...text.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name)
}

const UNITS = { hours: 3600, days: 86_400 }

/** Returns for how many seconds the page says that rows of a limit stay at most. */
export function limitRowsKept(): { named: Map<string, number>; other: number } {
  const row = page.split('\n').find((line) => line.startsWith('| `rate_limits`')) ?? ''
  const periods = [...row.matchAll(/(\d+) (hours|days) for (?:`([\w-]+)`|any other)/g)].map(
    ([, count, unit, name]) => [name, Number(count) * UNITS[unit as keyof typeof UNITS]] as const,
  )
  const named = periods.flatMap(([name, seconds]) => (name ? [[name, seconds] as const] : []))
  const other = periods.find(([name]) => name === undefined)?.[1] ?? 0
  return { named: new Map(named), other }
}
