import type { FastifyBaseLogger } from 'fastify'

const JUMP_MS = 60_000
/** An answer that took longer does not say when the time in it was read. */
const LATE_MS = 10_000
const HOUR_MS = 3_600_000

type Options = {
  readTime: () => Promise<number>
  log: Pick<FastifyBaseLogger, 'error'>
  settleMs?: number | undefined
  clock?: () => number
}

/**
 * Makes the function that resolves to whether rows may be erased for good: no clock has jumped for
 * an hour, counted from the first call or from the last jump.
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
