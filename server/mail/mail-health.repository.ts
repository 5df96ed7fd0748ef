import { sql } from 'kysely'
import type { Queryable } from '../db/database.ts'

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

/** Reads how mails are doing. They are the jobs whose names begin with `send-`. */
export async function mailHealth(db: Queryable): Promise<MailHealth> {
  const queue = await selectQueue(db)
  const failure = queue.failing > 0 ? await selectFailure(db) : undefined
  return { ...queue, ...NO_FAILURE, ...failure, lastHour: await selectLastHour(db) }
}

const NO_FAILURE = { failingSince: null, error: null, reason: null }

/** A job that has just queued its mail again and is about to end: graphile-worker has set its attempts to the highest number. */
const IS_ENDING = sql`j.locked_at IS NOT NULL AND j.attempts = j.max_attempts`

async function selectQueue(db: Queryable) {
  const { rows } = await sql<Pick<MailHealth, 'waiting' | 'failing' | 'limited' | 'oldestSeconds'>>`
    SELECT count(*)::int AS waiting,
      (count(*) FILTER (WHERE coalesce((payload->>'tries')::int, 0) > 0 OR j.attempts > 1
        OR payload->>'waitsFor' = 'login'))::int AS failing,
      (count(*) FILTER (WHERE payload->>'waitsFor' = 'limit'))::int AS limited,
      coalesce(extract(epoch FROM now() - min(
        coalesce(to_timestamp((payload->>'queuedAt')::float8 / 1000), j.created_at)
      )), 0)::float8 AS "oldestSeconds"
    FROM graphile_worker._private_jobs j JOIN graphile_worker._private_tasks t ON t.id = j.task_id
    WHERE t.identifier LIKE 'send-%' AND NOT (${IS_ENDING})`.execute(db)
  return rows[0] ?? { waiting: 0, failing: 0, limited: 0, oldestSeconds: 0 }
}

/** What has failed since the last mail that a server took or refused for its address; nothing where others get through. */
async function selectFailure(db: Queryable) {
  const { rows } = await sql<Pick<MailHealth, 'failingSince' | 'error' | 'reason'>>`
    WITH answered AS (SELECT max(at) AS at FROM mail_log WHERE outcome IN ('sent', 'refused')),
      failed AS (SELECT m.* FROM mail_log m, answered a
        WHERE m.outcome = 'retrying' AND (a.at IS NULL OR m.at > a.at))
    SELECT (SELECT greatest(min(first_at), (SELECT at FROM answered)) FROM failed) AS "failingSince",
      error, coalesce(answer, error) AS reason
    FROM failed ORDER BY at DESC, id DESC LIMIT 1`.execute(db)
  return rows[0]
}

async function selectLastHour(db: Queryable): Promise<MailHealth['lastHour']> {
  const { rows } = await sql<MailHealth['lastHour']>`
    SELECT (count(*) FILTER (WHERE outcome = 'sent'))::int AS sent,
      (count(*) FILTER (WHERE outcome = 'refused'))::int AS refused,
      (count(*) FILTER (WHERE outcome = 'expired'))::int AS expired
    FROM mail_log WHERE at > now() - interval '1 hour'`.execute(db)
  return rows[0] ?? { sent: 0, refused: 0, expired: 0 }
}
