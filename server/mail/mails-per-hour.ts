import type { Pool } from 'pg'
import { RateLimiterRes } from 'rate-limiter-flexible'
import { DatabaseClockLimiter } from '../rate-limits/database-clock-limiter.ts'

const HOUR = 3600
const KEY = 'all'
/** The share of the hour's mails that only urgent ones may use. */
const URGENT_SHARE = 1 / 4

type Options = {
  pool: Pool
  /** How many mails an hour all nodes send together. */
  most: number
  /** Called for the first mail of an hour that is over the limit. */
  onTripped: () => void
}

/**
 * Makes the function that counts a mail. It returns 0, or the milliseconds to wait where the hour's mails are used up. The last
 * quarter of them is kept for urgent ones, so that no flood of notices keeps people from signing in.
 */
export function limitMailsPerHour({ pool, most, onTripped }: Options) {
  const limiter = new DatabaseClockLimiter({
    pool,
    tableName: 'rate_limits',
    keyPrefix: 'mails',
    points: most,
    duration: HOUR,
  })
  const mostOfOthers = Math.ceil(most * (1 - URGENT_SHARE))

  return async (isUrgent: boolean): Promise<number> => {
    try {
      const { consumedPoints, msBeforeNext } = await limiter.consume(KEY)
      if (isUrgent || consumedPoints <= mostOfOthers) return 0
      await limiter.reward(KEY)
      return Math.max(1, msBeforeNext)
    } catch (refusal) {
      if (!(refusal instanceof RateLimiterRes)) throw refusal
      if (refusal.consumedPoints === most + 1) onTripped()
      return Math.max(1, refusal.msBeforeNext)
    }
  }
}
