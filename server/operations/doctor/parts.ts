import { type Finding, ok, warning } from './finding.ts'

/** A program that the wall runs on, and how old it may become. */
type Part = {
  name: string
  /** Days since the release of its version. */
  days: number
  /** Returns the month in which a version was released. */
  released: (version: string) => string | undefined
  wayRound: string
}

/** The minor releases of May 2026. The next ones come each quarter. */
const MAY_2026: Record<string, number> = { 15: 18, 16: 14, 17: 10, 18: 4, 19: -1 }

function postgresMonth(version: string): string | undefined {
  const [, major = '', minor] = /^(\d+)\.(\d+)/.exec(version) ?? []
  const since = MAY_2026[major]
  if (since === undefined || minor === undefined) return undefined
  const month = new Date(Date.UTC(2026, 4 + 3 * (Number(minor) - since)))
  return month.toISOString().slice(0, 7)
}

const UPGRADE_POSTGRES = 'Обновите PostgreSQL на его машине: apt update && apt upgrade'
const NODE_MONTHS: Record<string, string> = { '26.10.0': '2026-09', '26.12.0': '2026-10' }

export const POSTGRES: Part = {
  name: 'PostgreSQL',
  // A quarter until the next fixes, and 30 days to update.
  days: 122,
  released: postgresMonth,
  wayRound: 'Перейдите на PostgreSQL системы, который обновляет apt: vslukh move-database',
}

export const NODE: Part = {
  name: 'Node',
  days: 60,
  released: (version) => NODE_MONTHS[version],
  wayRound: 'Поставьте новую версию Node 26: с 26.12 запуск возьмёт её сам',
}

const DAY_MS = 86_400_000

export function isOld(days: number, released: string, now: Date): boolean {
  return now.getTime() - Date.parse(released) > days * DAY_MS
}

const DATE = new Intl.DateTimeFormat('ru', { dateStyle: 'long', timeZone: 'UTC' })

/** Returns the genitive, such as «мая 2026». */
export function monthName(month: string): string {
  return DATE.format(new Date(month)).replace(/^\d+ | г\.$/g, '')
}

type Running = { postgres: string; node: string; isEmbedded: boolean }

export function checkParts({ postgres, node, isEmbedded }: Running, now = new Date()): Finding {
  const own = { ...POSTGRES, wayRound: UPGRADE_POSTGRES }
  const running: [Part, string][] = [
    [isEmbedded ? POSTGRES : own, postgres.replace(/ .*/, '')],
    [NODE, node],
  ]
  const old = running.flatMap(([part, version]) => {
    const released = part.released(version)
    if (released === undefined || !isOld(part.days, released, now)) return []
    const message = `${part.name} ${version} из ${monthName(released)}`
    return [{ message, fix: part.wayRound }]
  })
  if (old.length === 0) return ok('parts', 'PostgreSQL и Node не старые')
  const message = old.map((one) => one.message).join(', ')
  return warning('parts', `без новых исправлений: ${message}`, old.map(({ fix }) => fix).join('. '))
}
