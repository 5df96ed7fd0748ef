import { createHmac } from 'node:crypto'
import { type Selectable, sql } from 'kysely'
import type { Queryable } from '../db/database.ts'
import type { MailOutcome, Tables } from '../db/tables.ts'
import { emailKey, maskEmail } from './email-address.ts'

/** The purpose of the key that hashes addresses for the log. */
export const MAIL_LOG_KEY = 'mail-log'
const KEPT_DAYS = 14

/** What is logged of a mail: what became of it last. */
export type MailEntry = {
  /** The row that an earlier attempt wrote. */
  id?: string | undefined
  task: string
  to: string
  outcome: MailOutcome
  /** Whether the mail server was asked this time. */
  isTried: boolean
  /** nodemailer's name of the error, the server's reply code, and its answer with addresses masked. */
  error?: string | undefined
  reply?: number | undefined
  answer?: string | undefined
}

/** Logs what became of a mail, under a hash of its address with `key`. Returns the id of its row. */
export async function putMailEntry(db: Queryable, entry: MailEntry, key: Buffer): Promise<string> {
  const { id, task, to, outcome, isTried, error = null, reply = null, answer = null } = entry
  const tries = isTried ? 1 : 0
  // A mail that only waits, or is given up, keeps the error of its last attempt.
  const last = { outcome, ...(isTried && { error, reply, answer }) }
  if (id !== undefined) {
    await db
      .updateTable('mail_log')
      .set((eb) => ({ at: sql<Date>`now()`, tries: eb('tries', '+', tries), ...last }))
      .where('id', '=', id)
      .execute()
    return id
  }
  const row = await db
    .insertInto('mail_log')
    .values({ task, address_hash: hashOf(to, key), masked: maskEmail(to), tries, ...last })
    .returning('id')
    .executeTakeFirstOrThrow()
  return row.id
}

export type LoggedMail = Omit<Selectable<Tables['mail_log']>, 'id' | 'address_hash'>

/** Returns the newest logged mails, newest first; `to` limits them to one address, which is hashed with `key`. */
export function selectMailLog(
  db: Queryable,
  { limit, only }: { limit: number; only?: { to: string; key: Buffer } | undefined },
): Promise<LoggedMail[]> {
  let query = db
    .selectFrom('mail_log')
    .select(['task', 'masked', 'first_at', 'at', 'outcome', 'tries', 'error', 'reply', 'answer'])
    .orderBy('at', 'desc')
    .orderBy('id', 'desc')
    .limit(limit)
  if (only) query = query.where('address_hash', '=', hashOf(only.to, only.key))
  return query.execute()
}

/** Removes what became of mails more than 14 days ago. */
export async function removeOldMailEntries(db: Queryable): Promise<void> {
  const old = sql<Date>`now() - ${KEPT_DAYS} * interval '1 day'`
  await db.deleteFrom('mail_log').where('at', '<', old).execute()
}

function hashOf(address: string, key: Buffer): Buffer {
  return createHmac('sha256', key).update(emailKey(address)).digest()
}
