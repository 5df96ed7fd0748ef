/** How often something may happen: `burst` times at once, and then once in `step` seconds. */
export type Pace = { burst: number; step: number }

/** Counts the events of many keys at one pace, by the generic cell rate algorithm (ITU-T I.371). */
export type Counter = {
  /** Returns 0, or the seconds to wait. A `share` may use only a part of the burst. */
  charge(key: string, share?: number | undefined): number | Promise<number>
  refund(key: string): void | Promise<void>
  isSpent(key: string): boolean | Promise<boolean>
}

export function allowed({ burst }: Pace, share = 1): number {
  return Math.max(1, Math.round(burst * share))
}

/** The keys of a generation, some 100 bytes each. A counter has two generations. */
const GENERATION_MAX = 25_000
const ROUNDING = 1e-6

/**
 * Counts in memory that is bounded, because strangers choose the keys: the older generation of keys
 * is forgotten. To delete the oldest keys of one Map would take ever longer.
 */
export function countInMemory(pace: Pace, now = () => performance.now() / 1000): Counter {
  const { burst, step } = pace
  /** The theoretical arrival time of each key's next event. */
  let newer = new Map<string, number>()
  let older = new Map<string, number>()
  let begunAt = now()

  const arrivalOf = (key: string) => newer.get(key) ?? older.get(key) ?? 0

  function put(key: string, arrival: number, time: number): void {
    // At this age, all arrivals of the older generation have passed.
    if (newer.size >= GENERATION_MAX || time - begunAt >= burst * step) {
      older = newer
      newer = new Map()
      begunAt = time
    }
    newer.set(key, arrival)
  }

  function waitUntil(arrival: number, time: number, share: number | undefined): number {
    const wait = arrival - time - (allowed(pace, share) - 1) * step
    return wait > ROUNDING ? wait : 0
  }

  return {
    charge(key, share) {
      const time = now()
      const arrival = Math.max(arrivalOf(key), time)
      const wait = waitUntil(arrival, time, share)
      if (wait === 0) put(key, arrival + step, time)
      return wait
    },
    refund: (key) => put(key, arrivalOf(key) - step, now()),
    isSpent: (key) => waitUntil(arrivalOf(key), now(), 1) > 0,
  }
}
