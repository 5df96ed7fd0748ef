import type { FastifyBaseLogger } from 'fastify'
import { removeExpiredAccountRows } from './account/account.repository.ts'
import { removeExpiredOperations } from './codes/codes.repository.ts'
import { removeExpiredMailPlaces } from './codes/mail-places.repository.ts'
import type { Db } from './db/database.ts'
import { purgeArchive } from './likes/likes.service.ts'
import { removeOldMailEntries } from './mail/mail-log.repository.ts'
import { removeExpiredBlocks } from './moderation/blocks.service.ts'
import { removeOldReports } from './moderation/report-states.repository.ts'
import { removeOldKeys } from './posts/publications.repository.ts'
import { removeExpiredLimits } from './rate-limits/rate-limits.ts'
import { removeOldClients } from './sessions/known-clients.repository.ts'
import { countSessions, removeExpiredSessions } from './sessions/sessions.repository.ts'
import { removeExpiredSiteRows } from './site-state/site-state.repository.ts'

/** Milliseconds of the monotonic clock: a little less than the hour between two runs. */
const CONFIRMED_AFTER_MS = 50 * 60_000

/** Of fewer sessions nobody is told. */
const SESSIONS_TO_JUDGE = 20

/**
 * Makes the hourly job that removes expired rows: one-time operations, sessions, counts of rate limits, reports, archived posts. When more than half of
 * the sessions seem to have expired, the clock is probably wrong: the job removes nothing, logs an error unless there are only
 * a few sessions, and continues only if that is still so an hour later. `clock` returns monotonic milliseconds.
 */
export function createPruning(
  db: Db,
  log: Pick<FastifyBaseLogger, 'error'>,
  clock = () => performance.now(),
): () => Promise<void> {
  let suspectedAt: number | undefined

  return async () => {
    const { expired, all } = await countSessions(db)
    const suspicious = expired * 2 > all
    const confirmed = suspectedAt !== undefined && clock() - suspectedAt >= CONFIRMED_AFTER_MS
    if (suspicious && !confirmed) {
      suspectedAt ??= clock()
      // Of a few people it is usual that most have stayed away for a month.
      if (all < SESSIONS_TO_JUDGE) return
      const message =
        'pruning stopped: more than half of the sessions look over, is the clock right?'
      return log.error({ expired, all }, message)
    }
    suspectedAt = undefined
    await removeExpiredOperations(db)
    await removeExpiredMailPlaces(db)
    await removeExpiredAccountRows(db)
    await removeExpiredSessions(db)
    await removeOldClients(db)
    await removeExpiredSiteRows(db)
    await removeExpiredLimits(db)
    await removeOldMailEntries(db)
    await removeOldKeys(db)
    await removeExpiredBlocks(db)
    await removeOldReports(db)
    await purgeArchive(db)
  }
}
