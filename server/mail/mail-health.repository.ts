import { sql } from 'kysely'
import type { Queryable } from '../db/database.ts'
import { IS_PAUSED } from './login-pause.repository.ts'

/** How mails are doing: the queue, and what became of mails in the last hour. */
export type MailHealth = {
  waiting: number
  /** Those that were tried before, or wait because the login is refused. */
  failing: number
  /** Those that wait because MAILS_PER_HOUR is reached. */
  limited: number
  /** For how long the oldest of them waits, in seconds; 0 where none waits. */
  oldestSeconds: number
  /** Since when no mail has left, and why, by nodemailer's name of the error and by the server's words with addresses masked. */
  failingSince: Date | null
  error: string | null
  reason: string | null
  /** How many mails ended in the last hour, by their outcome. */
  lastHour: { sent: number; refused: number; expired: number }
}

/** Reads how mails are doing. */
export async function mailHealth(db: Queryable): Promise<MailHealth> {
  const queue = await selectQueue(db)
  const failure = queue.failing > 0 ? await selectFailure(db) : undefined
  return { ...queue, ...NO_FAILURE, ...failure, lastHour: await selectLastHour(db) }
}

const NO_FAILURE = { failingSince: null, error: null, reason: null }

async function selectQueue(db: Queryable) {
  const { rows } = await sql<Pick<MailHealth, 'waiting' | 'failing' | 'limited' | 'oldestSeconds'>>`
    SELECT count(*)::int AS waiting,
      (count(*) FILTER (WHERE tries > 0 OR ${IS_PAUSED}))::int AS failing,
      (count(*) FILTER (WHERE state = 'limited'))::int AS limited,
      coalesce(extract(epoch FROM now() - min(queued_at)), 0)::float8 AS "oldestSeconds"
    FROM outbox WHERE payload IS NOT NULL`.execute(db)
  return rows[0] ?? { waiting: 0, failing: 0, limited: 0, oldestSeconds: 0 }
}

/** What has failed since the last mail that a server took or refused for its address; nothing where others get through. */
async function selectFailure(db: Queryable) {
  const { rows } = await sql<Pick<MailHealth, 'failingSince' | 'error' | 'reason'>>`
    WITH answered AS (SELECT max(at) AS at FROM outbox WHERE state IN ('sent', 'refused')),
      failed AS (SELECT m.* FROM outbox m, answered a
        WHERE m.payload IS NOT NULL AND m.state = 'retrying' AND (a.at IS NULL OR m.at > a.at))
    SELECT (SELECT greatest(min(queued_at), (SELECT at FROM answered)) FROM failed) AS "failingSince",
      error, coalesce(answer, error) AS reason
    FROM failed ORDER BY at DESC, id DESC LIMIT 1`.execute(db)
  return rows[0]
}

async function selectLastHour(db: Queryable): Promise<MailHealth['lastHour']> {
  const { rows } = await sql<MailHealth['lastHour']>`
    SELECT (count(*) FILTER (WHERE state = 'sent'))::int AS sent,
      (count(*) FILTER (WHERE state = 'refused'))::int AS refused,
      (count(*) FILTER (WHERE state = 'expired'))::int AS expired
    FROM outbox WHERE at > now() - interval '1 hour'`.execute(db)
  return rows[0] ?? { sent: 0, refused: 0, expired: 0 }
}
