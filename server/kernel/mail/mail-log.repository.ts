import { type Selectable, sql } from 'kysely'
import type { Queryable } from '../db/database.ts'
import type { OutboxState, Tables } from '../db/tables.ts'
import { IS_DIGEST, IS_PAUSED } from './outbox.repository.ts'

export const MAIL_LOG_KEY = 'mail-log'
const KEPT_DAYS = 14
const LISTED_MAX = 100

type LoggedColumn = 'task' | 'masked' | 'at' | 'tries' | 'error' | 'reply' | 'answer'

/** A mail that is `paused` is not tried, because the mail server refuses the login. */
export type LoggedMail = Pick<Selectable<Tables['outbox']>, LoggedColumn> & {
  first_at: Date
  outcome: OutboxState | 'paused'
}

const OUTCOME = sql<LoggedMail['outcome']>`CASE WHEN state = 'queued' AND ${IS_PAUSED} THEN 'paused'
  ELSE state END`

/** Returns the newest mails first; with `toHash`, those to the address with this keyed hash. */
export function selectMailLog(db: Queryable, toHash?: Buffer): Promise<LoggedMail[]> {
  let query = db
    .selectFrom('outbox')
    .select(['task', 'masked', 'queued_at as first_at', 'at', OUTCOME.as('outcome')])
    .select(['tries', 'error', 'reply', 'answer'])
    .orderBy('at', 'desc')
    .orderBy('id', 'desc')
    .limit(LISTED_MAX)
  if (toHash) query = query.where('address_hash', '=', toHash)
  return query.execute()
}

export async function removeOldMailEntries(db: Queryable): Promise<void> {
  const old = sql<Date>`now() - ${KEPT_DAYS} * interval '1 day'`
  await db.deleteFrom('outbox').where('at', '<', old).execute()
}

export type MailHealth = {
  waiting: number
  /** Waiting mails that were tried before, or that wait because the login is refused. */
  failing: number
  limited: number
  /** The age of the oldest urgent mail that is not slowed on purpose. */
  oldestSeconds: number
  /** How many notices that no server has refused wait for more than ten minutes, since when, for whom. */
  lateNotices: { count: number; since: Date | null; masked: string | null }
  /** The time since which urgent mails fail; null, as `error` and `reason`, if they do not. */
  failingSince: Date | null
  error: string | null
  reason: string | null
  lastHour: { sent: number; refused: number; expired: number }
}

/** Returns the queue's health. Mails fail if an urgent one is retried, and no reply came since. */
export async function readMailHealth(db: Queryable): Promise<MailHealth> {
  const { rows } = await sql<MailHealth>`
    WITH waiting AS (SELECT * FROM outbox WHERE payload IS NOT NULL),
      answered AS (SELECT max(at) AS at FROM outbox WHERE state IN ('sent', 'refused')),
      failed AS (SELECT w.* FROM waiting w, answered a
        WHERE w.is_urgent AND w.state = 'retrying' AND coalesce(w.at > a.at, true)),
      late AS (SELECT queued_at, masked FROM waiting
        WHERE NOT is_urgent AND NOT ${IS_DIGEST} AND state <> 'retrying'
          AND queued_at < now() - interval '10 minutes'),
      newest AS (SELECT error, coalesce(answer, error) AS reason FROM failed ORDER BY at DESC, id DESC LIMIT 1)
    SELECT count(*)::int AS waiting,
      (count(*) FILTER (WHERE tries > 0 OR ${IS_PAUSED}))::int AS failing,
      (count(*) FILTER (WHERE state = 'limited'))::int AS limited,
      coalesce(extract(epoch FROM now() - min(queued_at) FILTER (WHERE is_urgent AND state <> 'slowed')), 0)::float8 AS "oldestSeconds",
      (SELECT greatest(min(queued_at), (SELECT at FROM answered)) FROM failed
        HAVING count(*) > 0) AS "failingSince",
      (SELECT json_build_object('count', count(*), 'since', min(queued_at),
        'masked', (array_agg(masked ORDER BY queued_at))[1]) FROM late) AS "lateNotices",
      (SELECT error FROM newest) AS error, (SELECT reason FROM newest) AS reason,
      (SELECT json_build_object(
        'sent', count(*) FILTER (WHERE state = 'sent'),
        'refused', count(*) FILTER (WHERE state = 'refused'),
        'expired', count(*) FILTER (WHERE state = 'expired')
      ) FROM outbox WHERE at > now() - interval '1 hour') AS "lastHour"
    FROM waiting`.execute(db)
  const { lateNotices: late, ...health } = (rows as [MailHealth])[0]
  // JSON has no times.
  return { ...health, lateNotices: { ...late, since: late.since && new Date(late.since) } }
}
