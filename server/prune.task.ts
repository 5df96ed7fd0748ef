import { removeExpiredAccountRows } from './features/account/account.repository.ts'
import { removeExpiredOperations } from './features/codes/codes.repository.ts'
import { removeExpiredBlocks } from './features/moderation/blocks.repository.ts'
import { purgeExpiredPosts } from './features/moderation/hiding.service.ts'
import { removeOldReports } from './features/moderation/report-states.repository.ts'
import { removeOldKeys } from './features/posts/publications.repository.ts'
import { removeOldClients } from './features/sessions/known-clients.repository.ts'
import { removeExpiredSessions } from './features/sessions/sessions.repository.ts'
import { removeExpiredSiteRows } from './features/site-state/site-state.repository.ts'
import type { Db } from './kernel/db/database.ts'
import { removeExpiredLimits } from './kernel/limits/gcra.repository.ts'
import { removeOldMailEntries } from './kernel/mail/mail-log.repository.ts'

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
  await purgeExpiredPosts(db)
}
