import { sql } from 'kysely'
import { hasRow, type Queryable } from '../db/database.ts'
import { addJob } from '../queue/queue.ts'
import { domainOf, maskEmail } from './email-address.ts'

export type QueuedMail = {
  to: string
  /** In unix milliseconds. The mail is not sent after it; a day after it was queued unless set. */
  expiresAt?: number
  /** While a mail with this key waits, no other is queued, but its time to wait is prolonged. */
  key?: string
  isUrgent?: boolean
  /** Whether it tells people what they must know to keep their account, such as a new e-mail. */
  isSecurity?: boolean
  /** Whether it can wait until all other mails have left. */
  isDigest?: boolean
  /** Whether it is a code for an address without an account. */
  isToNewAddress?: boolean
  /** The keyed hash of the network that asked for it. */
  asker?: string
}

const DAY_MS = 86_400_000

/** Queues a mail, unless one with its key waits. In a transaction, the commit queues it. */
export async function queueMail(db: Queryable, task: string, mail: QueuedMail): Promise<void> {
  const queued = { expiresAt: Date.now() + DAY_MS, ...mail }
  const { to, expiresAt, key = null, isUrgent = false, isToNewAddress = false } = queued
  await sql`
    WITH queued AS (
      INSERT INTO outbox (task, key, payload, is_urgent, is_to_new_address, domain, expires_at, masked)
      VALUES (${task}, ${key}, ${JSON.stringify(queued)}, ${isUrgent}, ${isToNewAddress}, ${domainOf(to)},
        to_timestamp(${expiresAt}::float8 / 1000), ${maskEmail(to)})
      ON CONFLICT (key) DO UPDATE SET expires_at = excluded.expires_at RETURNING id
    )
    SELECT graphile_worker.add_job(${SEND_MAILS_TASK}) FROM queued`.execute(db)
}

export function isMailWaiting(db: Queryable, key: string): Promise<boolean> {
  return hasRow(db.selectFrom('outbox').select('id').where('key', '=', key))
}

export const SEND_MAILS_TASK = 'send-mails'
/** The most conversations of a node at once. */
export const SENDERS = 6

export function wakeSenders(db: Queryable, afterMs = 0): Promise<void> {
  return addJob(db, SEND_MAILS_TASK, { afterMs, isConcurrent: true })
}
