import type { FastifyBaseLogger } from 'fastify'
import { removeExpiredAccountRows } from './account/account.service.ts'
import { removeExpiredMailPlaces, removeExpiredOperations } from './codes/codes.service.ts'
import type { Db } from './db/database.ts'
import { deleteOldKeys } from './posts/posts.repository.ts'
import { removeExpiredLimits } from './rate-limits/rate-limits.ts'
import { countExpired, deleteDeadSessions } from './sessions/sessions.service.ts'

/** A little less than the hour between two runs, by the monotonic clock (ms). */
const CONFIRMED_AFTER_MS = 50 * 60_000

/**
 * Makes the hourly job that removes what is over: one-time operations, sessions, counts of limits. Where more than half of
 * the sessions look over, the clock is more likely wrong than they: it removes nothing and logs an error, and goes on only
 * if that is still so an hour later. `clock`: monotonic milliseconds.
 */
export function createPruning(
  db: Db,
  log: Pick<FastifyBaseLogger, 'error'>,
  clock = () => performance.now(),
): () => Promise<void> {
  let suspectedAt: number | undefined

  return async () => {
    const { expired, all } = await countExpired(db)
    const suspicious = expired * 2 > all
    const confirmed = suspectedAt !== undefined && clock() - suspectedAt >= CONFIRMED_AFTER_MS
    if (suspicious && !confirmed) {
      suspectedAt ??= clock()
      const message =
        'pruning stopped: more than half of the sessions look over, is the clock right?'
      return log.error({ expired, all }, message)
    }
    suspectedAt = undefined
    await removeExpiredOperations(db)
    await removeExpiredMailPlaces(db)
    await removeExpiredAccountRows(db)
    await deleteDeadSessions(db)
    await removeExpiredLimits(db)
    await deleteOldKeys(db)
  }
}
