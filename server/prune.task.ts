import { removeExpiredAccountRows } from './account/account.repository.ts'
import { removeExpiredOperations } from './codes/codes.repository.ts'
import type { Db } from './db/database.ts'
import { purgeExpired } from './likes/likes.service.ts'
import { removeOldMailEntries } from './mail/mail-log.repository.ts'
import { removeExpiredBlocks } from './moderation/blocks.service.ts'
import { removeOldReports } from './moderation/report-states.repository.ts'
import { removeOldKeys } from './posts/publications.repository.ts'
import { removeExpiredLimits } from './rate-limits/gcra.repository.ts'
import { removeOldClients } from './sessions/known-clients.repository.ts'
import { removeExpiredSessions } from './sessions/sessions.repository.ts'
import { removeExpiredSiteRows } from './site-state/site-state.repository.ts'

/** Removes expired rows: one-time operations, sessions, counts of rate limits, reports, hidden posts. */
export async function removeExpired(db: Db): Promise<void> {
  await removeExpiredOperations(db)
  await removeExpiredAccountRows(db)
  await removeExpiredSessions(db)
  await removeOldClients(db)
  await removeExpiredSiteRows(db)
  await removeExpiredLimits(db)
  await removeOldMailEntries(db)
  await removeOldKeys(db)
  await removeExpiredBlocks(db)
  await removeOldReports(db)
  await purgeExpired(db)
}
