import { type CheckResult, ok, warning } from './finding.ts'

/** A program that the wall runs on, and how old it may become. */
type Part = {
  name: string
  /** The days after a release from which the version counts as old. */
  days: number
  /** Returns the month of a version's release, such as '2026-05'; undefined if it is unknown. */
  releaseMonth: (version: string) => string | undefined
  /** A Russian sentence about what an operator can do about an old version. */
  wayRound: string
}

/** The minor releases of May 2026 by major version. The next releases follow each quarter. */
const MAY_2026: Record<string, number> = { 15: 18, 16: 14, 17: 10, 18: 4, 19: -1 }

function postgresMonth(version: string): string | undefined {
  const [, major = '', minor] = /^(\d+)\.(\d+)/.exec(version) ?? []
  const since = MAY_2026[major]
  if (since === undefined || minor === undefined) return undefined
  const month = new Date(Date.UTC(2026, 4 + 3 * (Number(minor) - since)))
  return month.toISOString().slice(0, 7)
}

const UPGRADE_POSTGRES =
  'Обновите PostgreSQL на его машине: apt update && apt upgrade; после перехода на новую Debian — ' +
  'pg_upgradecluster (docs/upgrading.md, «Debian 12 to 13, PostgreSQL 15 to 17»)'
/** The releases of Node that this release of the wall knows. */
const NODE_MONTHS: Record<string, string> = {
  '26.10.0': '2026-09',
  '26.12.0': '2026-10',
  '26.12.1': '2026-10',
}

export const POSTGRES: Part = {
  name: 'PostgreSQL',
  // A quarter passes until the next fixes, and an operator has 30 days to update.
  days: 122,
  releaseMonth: postgresMonth,
  wayRound: 'Перейдите на PostgreSQL системы, который обновляет apt: vslukh move-database',
}

export const NODE: Part = {
  name: 'Node',
  days: 60,
  releaseMonth: (version) => NODE_MONTHS[version],
  wayRound:
    'Поставьте новый выпуск «Вслух» или новую версию Node 26: с 26.12 запуск возьмёт её сам',
}

/** With the newest Node that this release knows, there may be nothing newer to install. */
const NEWEST_NODE_DAYS = 180

function daysOf(part: Part, version: string): number {
  const isNewest = part === NODE && version === Object.keys(NODE_MONTHS).at(-1)
  return isNewest ? NEWEST_NODE_DAYS : part.days
}

const DAY_MS = 86_400_000

export function isOld(days: number, released: string, now: Date): boolean {
  return now.getTime() - Date.parse(released) > days * DAY_MS
}

const DATE = new Intl.DateTimeFormat('ru', { dateStyle: 'long', timeZone: 'UTC' })

/** Returns a month in the genitive, such as «мая 2026». */
export function monthName(month: string): string {
  return DATE.format(new Date(month)).replace(/^\d+ | г\.$/g, '')
}

type Running = { postgres: string; node: string; isEmbedded: boolean }

export function checkParts({ postgres, node, isEmbedded }: Running, now = new Date()): CheckResult {
  const own = { ...POSTGRES, wayRound: UPGRADE_POSTGRES }
  const running: [Part, string][] = [
    [isEmbedded ? POSTGRES : own, postgres.replace(/ .*/, '')],
    [NODE, node],
  ]
  const old = running.flatMap(([part, version]) => {
    const released = part.releaseMonth(version)
    if (released === undefined || !isOld(daysOf(part, version), released, now)) return []
    const message = `${part.name} ${version} из ${monthName(released)}`
    return [{ message, fix: part.wayRound }]
  })
  if (old.length === 0) return ok('PostgreSQL и Node не старые')
  const message = old.map((one) => one.message).join(', ')
  return warning(`без новых исправлений: ${message}`, old.map(({ fix }) => fix).join('. '))
}
