import { deriveKey } from '../../kernel/config/app-secret.ts'
import type { Config } from '../../kernel/config/config.ts'
import type { Db } from '../../kernel/db/database.ts'
import {
  type LoggedMail,
  MAIL_LOG_KEY,
  selectMailLog,
} from '../../kernel/mail/mail-log.repository.ts'
import { hashAddress } from '../../kernel/mail/outbox.repository.ts'
import { readSecret } from '../start/installation.ts'

/**
 * Returns what became of the newest mails, or of those to one address. Throws StartError if the
 * secret, by which addresses are hashed, is not the wall's.
 */
export async function readMailLog(db: Db, config: Config, to?: string): Promise<LoggedMail[]> {
  if (to === undefined) return selectMailLog(db)
  const key = deriveKey(await readSecret(db, config), MAIL_LOG_KEY)
  return selectMailLog(db, hashAddress(to, key))
}
