import { AppError } from '../http/app-error.ts'

type Bucket = {
  /** One event in so many seconds. */
  seconds: number
  /** As many at once, when there were none for long. */
  burst: number
}

/**
 * A limit on the pace of events, counted in memory: the generic cell rate algorithm (ITU-T I.371). Windows of fixed
 * length, which the other limits count in, let twice the burst through where two of them meet.
 */
export function createLeakyBucket({ seconds, burst }: Bucket, now = () => performance.now()) {
  const step = seconds * 1000
  /** When the bucket of each key will have leaked empty; in the order of the last event. */
  const empty = new Map<string, number>()

  function forgetEmpty(time: number): void {
    for (const [key, at] of empty) {
      if (at > time) return
      empty.delete(key)
    }
  }

  return {
    /** Counts one event under `key`; throws TOO_MANY_REQUESTS, with the seconds to wait, when there were too many. */
    async charge(key: string): Promise<void> {
      const time = now()
      forgetEmpty(time)
      const at = Math.max(empty.get(key) ?? 0, time) + step
      const wait = at - burst * step - time
      if (wait > 0) throw new AppError('TOO_MANY_REQUESTS', { retryAfter: wait / 1000 })
      empty.delete(key)
      empty.set(key, at)
    },
  }
}
