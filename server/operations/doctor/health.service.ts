import type { Queryable } from '../../kernel/db/database.ts'
import { type MailHealth, mailHealth } from '../../kernel/mail/mail-health.repository.ts'
import { selectDatabaseFacts } from './doctor.repository.ts'

export type WallHealth = { mails: MailHealth; counterDifferences: number; nodes: number }

export async function readWallHealth(db: Queryable): Promise<WallHealth> {
  const { counter_differences, nodes } = await selectDatabaseFacts(db)
  return { mails: await mailHealth(db), counterDifferences: counter_differences ?? 0, nodes }
}
