import type { FastifyBaseLogger } from 'fastify'
import { forgetFutureCrons } from '../queue/queue.ts'
import { clockSkew } from './clock.ts'
import type { Db } from './database.ts'

const LOOK_MS = 60_000
/** What the start refuses is worth an error later too. */
const LARGEST_SKEW_MS = 60_000

/**
 * Looks each minute, by the monotonic clock, whether this node's clock still agrees with the database's, logs an error where
 * it does not, and lets the crontab run again after either was ahead. Returns what ends it.
 */
export function watchClock(db: Db, log: Pick<FastifyBaseLogger, 'error'>): () => void {
  async function look(): Promise<void> {
    const skew = await clockSkew(db)
    if (Math.abs(skew) > LARGEST_SKEW_MS) {
      log.error({ seconds: Math.round(skew / 1000) }, 'clock differs from the database’s')
    }
    await forgetFutureCrons(db)
  }

  // Without the database there is nothing to compare with; the next minute has another look.
  const looking = setInterval(() => void look().catch(() => {}), LOOK_MS).unref()
  return () => clearInterval(looking)
}
