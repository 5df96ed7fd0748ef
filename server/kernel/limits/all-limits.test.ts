import { globSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { CLARIFY_SECONDS } from '../../../contract/constants.ts'

const CONSTANTS: Record<string, number> = {
  SECOND: 1,
  MINUTE: 60,
  FIVE_MINUTES: 300,
  HOUR: 3600,
  DAY: 86_400,
  CLARIFY_SECONDS,
}
const UNITS: Record<string, number> = { ms: 0.001, s: 1, min: 60, h: 3600 }

/** Returns the value of an expression such as `5 * 30 * MINUTE`. */
function productOf(product: string): number {
  return product
    .split('*')
    .map((factor) => factor.trim())
    .map((factor) => CONSTANTS[factor] ?? Number(factor.replaceAll('_', '')))
    .reduce((value, factor) => value * factor, 1)
}

/** Returns the names of all limits in the code, with their rates if these stand beside the name. */
function declaredLimits(): Map<string, [events: number, seconds: number][]> {
  const paths = globSync('server/{kernel/http,features,pages}/**/*.ts', {
    exclude: ['**/*.test.ts'],
  })
  const sources = paths.map((path) => readFileSync(path, 'utf8'))
  const declared = sources.flatMap((source) => [
    ...source.matchAll(
      /^(?:export )?const [A-Z_]+: Limit = \{[^}]*?name: '([^']+)'(?:,\s+rates: ([^}]*?)\n {2}(?:refusal|isShared))?/gm,
    ),
  ])
  return new Map(
    declared.map(([, name = '', rates = '']) => [
      name,
      [...rates.matchAll(/\[([^,[\]]+),([^,[\]]+)\]/g)].map(([, events = '', seconds = '']) => [
        productOf(events),
        productOf(seconds),
      ]),
    ]),
  )
}

/** Returns the rates of each limit in the table of the document. */
function describedLimits(): Map<string, [events: number, seconds: number][]> {
  const rows = readFileSync('docs/decisions/010-rate-limits.md', 'utf8').matchAll(
    /^\| (`[^|]+`) \| [^|]+ \| ([^|]+) \|$/gm,
  )
  return new Map(
    [...rows].flatMap(([, names = '', numbers = '']) => {
      const rates = numbers.split('; ').map((rate): [number, number] => {
        const [, events = '', each = '', unit = ''] =
          /^([\d,]+), then one in ([\d.]+) (\w+)$/.exec(rate.trim()) ?? []
        const count = Number(events.replaceAll(',', ''))
        return [count, count * Number(each) * (UNITS[unit] ?? Number.NaN)]
      })
      return [...names.matchAll(/`([^`]+)`/g)].map(([, name = '']) => [name, rates] as const)
    }),
  )
}

test('the document lists every limit, with its numbers', () => {
  const [declared, described] = [declaredLimits(), describedLimits()]
  expect([...described.keys()].toSorted()).toEqual([...declared.keys()].toSorted())
  const withRates = [...declared].filter(([, rates]) => rates.length > 0)
  expect(withRates.length).toBeGreaterThan(20)
  for (const [name, rates] of withRates) {
    const stated = described.get(name) ?? []
    for (const [at, [events, seconds]] of rates.entries()) {
      expect(stated[at]?.[0], name).toBe(events)
      // 33 ms is rounded.
      expect((stated[at]?.[1] ?? 0) / seconds, name).toBeCloseTo(1, 1)
    }
  }
})
