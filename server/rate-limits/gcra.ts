import { AppError } from '../http/app-error.ts'

type Pace = {
  /** Seconds for each event. */
  seconds: number
  /** How many events may come at once after a pause. */
  burst: number
}

/** Sums of milliseconds may differ by less than this from what they should be. */
const ROUNDING_MS = 0.001

/**
 * Makes a limit on the pace of events, counted in memory by the generic cell rate algorithm (ITU-T I.371). Windows of
 * fixed length, in which the other limits count, allow twice the burst where two of them meet. `now` returns monotonic
 * milliseconds.
 */
export function createGcraLimit({ seconds, burst }: Pace, now = () => performance.now()) {
  const step = seconds * 1000
  /** The theoretical arrival time of each key's next event, in the order of the last events. */
  const arrivals = new Map<string, number>()

  function evictPast(time: number): void {
    for (const [key, arrival] of arrivals) {
      if (arrival > time) return
      arrivals.delete(key)
    }
  }

  return {
    /** Counts one event under `key`. Throws TOO_MANY_REQUESTS, with the seconds to wait, over the limit. */
    async charge(key: string): Promise<void> {
      const time = now()
      evictPast(time)
      const arrival = Math.max(arrivals.get(key) ?? 0, time) + step
      const wait = arrival - burst * step - time
      if (wait > ROUNDING_MS) throw new AppError('TOO_MANY_REQUESTS', { retryAfter: wait / 1000 })
      arrivals.delete(key)
      arrivals.set(key, arrival)
    },

    /** Takes back one event that was counted under `key`. */
    async refund(key: string): Promise<void> {
      const arrival = arrivals.get(key)
      if (arrival !== undefined) arrivals.set(key, arrival - step)
    },
  }
}
