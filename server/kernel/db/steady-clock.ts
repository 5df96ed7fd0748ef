import type { FastifyBaseLogger } from 'fastify'

/** A difference between two clocks that changes by more has jumped. */
const JUMP_MS = 60_000
/** An answer that took longer does not say when the time in it was read. */
const LATE_MS = 10_000
const HOUR_MS = 3_600_000

type Options = {
  /** Resolves to the time by the database's clock, in unix milliseconds. */
  readTime: () => Promise<number>
  log: Pick<FastifyBaseLogger, 'error'>
  /** For how long the clock must have run evenly. */
  settleMs?: number | undefined
  /** Returns monotonic milliseconds. */
  clock?: () => number
}

/**
 * Makes the function that resolves to whether what is due may be erased for good: the database's clock has gone as fast as the
 * monotonic one for an hour, from the first call on or from the last jump that a call has seen.
 */
export function createSteadyClock({
  readTime,
  log,
  settleMs = HOUR_MS,
  clock = () => performance.now(),
}: Options): () => Promise<boolean> {
  let steady: { difference: number; since: number } | undefined

  return async () => {
    const asked = clock()
    const time = await readTime()
    const now = clock()
    if (now - asked > LATE_MS) return false
    const difference = time - now
    steady ??= { difference, since: now }
    const jump = difference - steady.difference
    if (Math.abs(jump) > JUMP_MS) {
      log.error(
        { seconds: Math.round(jump / 1000) },
        'the clock has jumped: nothing is erased for an hour',
      )
      steady = { difference, since: now }
    }
    return now - steady.since >= settleMs
  }
}
