import type { FastifyBaseLogger } from 'fastify'
import { networkOf } from '../limits/limits.ts'

type Tally = {
  network: string | undefined
  refused: number
  codes: Record<string, number>
  routes: Record<string, number>
}

/** The counted fields of a log line; the logger writes the caller's network as a keyed hash. */
type RefusedLine = {
  method: string
  route: string | null
  status: number
  code?: string | undefined
  network: string | undefined
}

/** A network, by the address that came first, and what it was refused. */
export type RefusedNetwork = Tally & { network: string }

export type RefusalLog = ReturnType<typeof createRefusalLog>

const PERIOD_MS = 60_000
const IN_FULL = 10
const NETWORKS_MAX = 1000
const ROUTES_MAX = 5
const RECENT_PERIODS = 10
const RECENT_MAX = 100

/**
 * Prevents a flood of refusals from filling the log: each minute the first ten of a network and
 * code get a line each, and one line counts all of them. The addresses of such networks stay in
 * memory for ten minutes.
 */
export function createRefusalLog(log: FastifyBaseLogger, periodMs = PERIOD_MS) {
  let networks = new Map<string, Tally>()
  let others = newTally(undefined)
  let recent: Tally[][] = []

  function tallyOf(address: string | undefined): Tally {
    const key = networkOf(address)
    const known = networks.get(key)
    if (known) return known
    if (networks.size >= NETWORKS_MAX) return others
    const tally = newTally(address)
    networks.set(key, tally)
    return tally
  }

  function logCounts(): void {
    for (const tally of loud(networks)) log.warn(tally, 'requests refused')
    recent = [loud(networks).slice(0, RECENT_MAX), ...recent].slice(0, RECENT_PERIODS)
    if (others.refused > 0) log.warn({ otherNetworks: true, ...others }, 'requests refused')
    networks = new Map()
    others = newTally(undefined)
  }

  const timer = setInterval(logCounts, periodMs).unref()

  return {
    /** Logs or counts a refused request; returns whether it got its own line. */
    note(line: RefusedLine): boolean {
      const tally = tallyOf(line.network)
      tally.refused++
      const count = increment(tally.codes, line.code ?? String(line.status))
      const route = `${line.method} ${line.route ?? 'none'}`
      const isNamed = route in tally.routes || Object.keys(tally.routes).length < ROUTES_MAX
      increment(tally.routes, isNamed ? route : 'others')
      if (tally === others || count > IN_FULL) return false
      log.info(line, 'request')
      return true
    },

    /** Returns the networks with more than ten refusals of a code in one of the last ten periods. */
    recent(): RefusedNetwork[] {
      const sums = new Map<string, Tally>()
      for (const { network, ...tally } of [loud(networks), ...recent].flat()) {
        const sum = sums.get(networkOf(network)) ?? newTally(network)
        sums.set(networkOf(network), sum)
        sum.refused += tally.refused
        for (const part of ['codes', 'routes'] as const) {
          for (const [name, count] of Object.entries(tally[part])) increment(sum[part], name, count)
        }
      }
      return loud(sums).map((sum) => ({ ...sum, network: sum.network ?? '' }))
    },

    close(): void {
      clearInterval(timer)
      logCounts()
    },
  }
}

/** Returns those of which the log has a line of counts, the most refused first. */
function loud(networks: Map<string, Tally>): Tally[] {
  return [...networks.values()]
    .filter(({ codes }) => Object.values(codes).some((count) => count > IN_FULL))
    .sort((a, b) => b.refused - a.refused)
}

function newTally(network: string | undefined): Tally {
  return { network, refused: 0, codes: {}, routes: {} }
}

function increment(counts: Record<string, number>, name: string, by = 1): number {
  const count = (counts[name] ?? 0) + by
  counts[name] = count
  return count
}
