import type { FastifyBaseLogger } from 'fastify'
import { resetFutureCrons } from '../queue/queue.ts'
import { clockSkew } from './clock.ts'
import type { Db } from './database.ts'

const CHECK_MS = 60_000
/** The start refuses a larger difference; later it is logged as an error. */
const LARGEST_SKEW_MS = 60_000

/**
 * Compares this node's clock with the database's each minute, by the monotonic clock, and logs an error where they
 * differ. After either clock was ahead, it lets the crontab run again. Returns the function that stops it.
 */
export function watchClock(db: Db, log: Pick<FastifyBaseLogger, 'error'>): () => void {
  async function check(): Promise<void> {
    const skew = await clockSkew(db)
    if (Math.abs(skew) > LARGEST_SKEW_MS) {
      log.error({ seconds: Math.round(skew / 1000) }, 'clock differs from the database’s')
    }
    await resetFutureCrons(db)
  }

  // While the database is unavailable there is nothing to compare with; the next minute's check follows.
  const timer = setInterval(() => void check().catch(() => {}), CHECK_MS).unref()
  return () => clearInterval(timer)
}
