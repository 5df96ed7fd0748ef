import { type MailName, readMailName } from '../../features/site-state/mail-name.service.ts'
import type { Queryable } from '../../kernel/db/database.ts'
import { type MailHealth, mailHealth } from '../../kernel/mail/mail-health.repository.ts'
import { selectDatabaseFacts } from './doctor.repository.ts'

export type WallHealth = {
  mails: MailHealth
  mailName: MailName
  counterDifferences: number
  nodes: number
}

export async function readWallHealth(db: Queryable): Promise<WallHealth> {
  const { counter_differences, nodes } = await selectDatabaseFacts(db)
  const [mails, mailName] = [await mailHealth(db), await readMailName(db)]
  return { mails, mailName, counterDifferences: counter_differences ?? 0, nodes }
}
