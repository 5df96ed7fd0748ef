import type { Config } from '../config.ts'
import type { Db } from '../db/database.ts'
import { deriveKey } from '../start/app-secret.ts'
import { readSecret } from '../start/installation.ts'
import { type LoggedMail, MAIL_LOG_KEY, selectMailLog } from './mail-log.repository.ts'

/** The number of mails that are listed. */
const LISTED = 100

/**
 * Returns what became of the newest mails, newest first, or of those to one address. That needs the wall's secret, by which addresses
 * are hashed: throws StartError where it is another one.
 */
export async function readMailLog(
  db: Db,
  { config, to }: { config: Config; to: string | undefined },
): Promise<LoggedMail[]> {
  if (to === undefined) return selectMailLog(db, { limit: LISTED })
  const key = deriveKey(await readSecret(db, config), MAIL_LOG_KEY)
  return selectMailLog(db, { limit: LISTED, only: { to, key } })
}
