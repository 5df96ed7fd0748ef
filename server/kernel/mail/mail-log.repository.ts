import { type Selectable, sql } from 'kysely'
import type { Queryable } from '../db/database.ts'
import type { OutboxState, Tables } from '../db/tables.ts'
import { IS_PAUSED } from './login-pause.repository.ts'

export const MAIL_LOG_KEY = 'mail-log'
const KEPT_DAYS = 14
const LISTED = 100

type LoggedColumn = 'task' | 'masked' | 'at' | 'tries' | 'error' | 'reply' | 'answer'

/** `paused`: not tried, because the mail server refuses the login. */
export type LoggedMail = Pick<Selectable<Tables['outbox']>, LoggedColumn> & {
  first_at: Date
  outcome: OutboxState | 'paused'
}

const OUTCOME = sql<LoggedMail['outcome']>`CASE WHEN state = 'queued' AND ${IS_PAUSED} THEN 'paused'
  ELSE state END`

/** Returns the newest mails; with `toHash`, those to the address with this keyed hash. */
export function selectMailLog(db: Queryable, toHash?: Buffer): Promise<LoggedMail[]> {
  let query = db
    .selectFrom('outbox')
    .select(['task', 'masked', 'queued_at as first_at', 'at', OUTCOME.as('outcome')])
    .select(['tries', 'error', 'reply', 'answer'])
    .orderBy('at', 'desc')
    .orderBy('id', 'desc')
    .limit(LISTED)
  if (toHash) query = query.where('address_hash', '=', toHash)
  return query.execute()
}

export async function removeOldMailEntries(db: Queryable): Promise<void> {
  const old = sql<Date>`now() - ${KEPT_DAYS} * interval '1 day'`
  await db.deleteFrom('outbox').where('at', '<', old).execute()
}
