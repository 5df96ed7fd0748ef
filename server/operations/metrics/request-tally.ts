import { Histogram, type Registry } from 'prom-client'
import type { RequestFacts } from '../../kernel/http/request-log.ts'

/** Upper bounds in seconds: from a cached read to the deadline of a request. */
const BOUNDS = [0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 3, 10]
const HELP = 'Requests by method, route and status, with the seconds until they were answered'
const NAME = 'vslukh_http_request_duration_seconds'

type Tally = { labels: Record<string, string>; counts: number[]; count: number; sum: number }
type Values = Awaited<ReturnType<Histogram['get']>>

/**
 * A histogram of requests that costs a request two look-ups and three additions: prom-client's own would sort and join the
 * labels of each. Routes are patterns of the product and statuses are few, so the number of series is bounded.
 */
export class RequestTally extends Histogram {
  readonly #tallies = new Map<string | null, Map<string, Tally>>()

  constructor(registers: Registry[]) {
    super({ name: NAME, help: HELP, registers, buckets: BOUNDS })
  }

  /** Counts a request. */
  note({ method, route, status, ms }: RequestFacts): void {
    const tally = this.#tallyOf({ method, route, status })
    const seconds = ms / 1000
    const bucket = BOUNDS.findIndex((bound) => seconds <= bound)
    const at = bucket === -1 ? BOUNDS.length : bucket
    tally.counts[at] = (tally.counts[at] ?? 0) + 1
    tally.count++
    tally.sum += seconds
  }

  #tallyOf(facts: Omit<RequestFacts, 'ms'>): Tally {
    const byStatus = this.#tallies.get(facts.route) ?? new Map<string, Tally>()
    const key = facts.method + facts.status
    const tally = byStatus.get(key) ?? newTally(facts)
    if (tally.count === 0) this.#tallies.set(facts.route, byStatus.set(key, tally))
    return tally
  }

  override async get(): Promise<Values> {
    return this.getForPromString()
  }

  /** The registry calls this one where there is one. */
  async getForPromString(): Promise<Values> {
    const tallies = [...this.#tallies.values()].flatMap((byStatus) => [...byStatus.values()])
    const values = tallies.flatMap(valuesOf)
    return {
      name: NAME,
      help: HELP,
      type: 'histogram',
      values,
      aggregator: 'sum',
    } as unknown as Values
  }
}

function newTally({ method, route, status }: Omit<RequestFacts, 'ms'>): Tally {
  const labels = { method, route: route ?? 'none', status: String(status) }
  return { labels, counts: BOUNDS.map(() => 0).concat(0), count: 0, sum: 0 }
}

/** The lines of a histogram: buckets are cumulative. */
function valuesOf({ labels, counts, count, sum }: Tally): Values['values'] {
  let below = 0
  const buckets = counts.map((inBucket, at) => {
    below += inBucket
    return {
      metricName: `${NAME}_bucket`,
      labels: { ...labels, le: BOUNDS[at] ?? '+Inf' },
      value: below,
    }
  })
  const total = (name: string, value: number) => ({ metricName: NAME + name, labels, value })
  return [...buckets, total('_sum', sum), total('_count', count)]
}
