import type { FastifyBaseLogger } from 'fastify'
import { networkOf } from '../limits/limits.ts'

/** The refusals of a network; `network` is the address of the first refused request. */
export type RefusedNetwork = {
  network: string
  refused: number
  codes: Record<string, number>
  routes: Record<string, number>
}

type RefusedLine = {
  method: string
  route: string | null
  status: number
  code?: string | undefined
  network: string | undefined
}

const PERIOD_MS = 60_000
const IN_FULL = 10
const NETWORKS_MAX = 1000
const ROUTES_MAX = 5
const RECENT_PERIODS = 10
const RECENT_MAX = 100

/** Logs ten refusals a minute of each network and code, and one line that counts all of them. */
export class RefusalLog {
  readonly #log: FastifyBaseLogger
  readonly #timer: NodeJS.Timeout
  #networks = new Map<string, RefusedNetwork>()
  #others = newTally('')
  #recent: RefusedNetwork[][] = []

  constructor(log: FastifyBaseLogger, periodMs = PERIOD_MS) {
    this.#log = log
    this.#timer = setInterval(() => this.#logCounts(), periodMs).unref()
  }

  /** Counts a refusal, and logs it unless there are too many. Returns whether it was logged. */
  record(line: RefusedLine): boolean {
    const tally = this.#tallyOf(line.network)
    tally.refused++
    const count = increment(tally.codes, line.code ?? String(line.status))
    const route = `${line.method} ${line.route ?? 'none'}`
    const isNamed = route in tally.routes || Object.keys(tally.routes).length < ROUTES_MAX
    increment(tally.routes, isNamed ? route : 'others')
    if (tally === this.#others || count > IN_FULL) return false
    this.#log.info(line, 'request')
    return true
  }

  /** Returns the networks with many refusals in the last ten minutes, the most refused first. */
  recent(): RefusedNetwork[] {
    const sums = new Map<string, RefusedNetwork>()
    for (const { network, refused, ...tally } of [
      mostRefused(this.#networks),
      ...this.#recent,
    ].flat()) {
      const sum = sums.getOrInsertComputed(networkOf(network), () => newTally(network))
      sum.refused += refused
      for (const part of ['codes', 'routes'] as const) {
        for (const [name, count] of Object.entries(tally[part])) increment(sum[part], name, count)
      }
    }
    return mostRefused(sums)
  }

  close(): void {
    clearInterval(this.#timer)
    this.#logCounts()
  }

  #tallyOf(address = ''): RefusedNetwork {
    const key = networkOf(address)
    if (this.#networks.size >= NETWORKS_MAX) return this.#networks.get(key) ?? this.#others
    return this.#networks.getOrInsertComputed(key, () => newTally(address))
  }

  #logCounts(): void {
    const refused = mostRefused(this.#networks)
    const { network: _, ...others } = this.#others
    for (const tally of refused) this.#log.warn(tally, 'requests refused')
    this.#recent = [refused.slice(0, RECENT_MAX), ...this.#recent].slice(0, RECENT_PERIODS)
    if (others.refused > 0) this.#log.warn({ otherNetworks: true, ...others }, 'requests refused')
    this.#networks = new Map()
    this.#others = newTally('')
  }
}

function mostRefused(networks: Map<string, RefusedNetwork>): RefusedNetwork[] {
  return [...networks.values()]
    .filter(({ codes }) => Object.values(codes).some((count) => count > IN_FULL))
    .sort((a, b) => b.refused - a.refused)
}

function newTally(network: string): RefusedNetwork {
  return { network, refused: 0, codes: {}, routes: {} }
}

function increment(counts: Record<string, number>, name: string, by = 1): number {
  const count = (counts[name] ?? 0) + by
  counts[name] = count
  return count
}
