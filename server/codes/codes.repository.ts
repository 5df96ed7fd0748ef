import { type ExpressionBuilder, sql } from 'kysely'
import type { MailState } from '../../contract/codes.ts'
import { CODE_RESEND_SECONDS } from '../../contract/constants.ts'
import type { Device } from '../../contract/fields.ts'
import type { Queryable } from '../db/database.ts'
import type { Tables } from '../db/tables.ts'

/** Longer than a request takes: a start that has claimed the mail and not queued it by then never will. */
const CLAIM_SECONDS = 10

export type Purpose = 'login' | 'registration' | 'email-change'

export type NewOperation = {
  id: string
  purpose: Purpose
  email: string
  emailKey: string
  /** '0' where nobody is signed in. */
  userId: string
  clientHash: Buffer
  device: Device | null
  ttlSeconds: number
}

/**
 * Stores an operation, or finds the live one of the same purpose, e-mail, user and client. `mailDue` tells the one
 * caller that shall send its mail and then say so by `markMailed`: no other is told so for the next 60 s, or for 10 where
 * that did not come to pass. A live operation keeps its address: its code was mailed there, and one that merely compares
 * equal to it may be somebody else's. A mail from the future was sent by a clock that was ahead, and holds up none.
 */
export async function putOperation(db: Queryable, operation: NewOperation) {
  const { rows } = await sql<{ id: string; email: string; mail_due: boolean; expires_at: Date }>`
    INSERT INTO codes AS old
      (id, purpose, email, email_key, user_id, client_hash, device, mailed_at, expires_at)
    VALUES (
      ${operation.id}, ${operation.purpose}, ${operation.email}, ${operation.emailKey},
      ${operation.userId}, ${operation.clientHash}, ${operation.device}::jsonb, now(),
      now() + ${operation.ttlSeconds} * interval '1 second'
    )
    ON CONFLICT (purpose, email_key, user_id, client_hash) DO UPDATE SET
      id = CASE WHEN old.expires_at > now() THEN old.id ELSE excluded.id END,
      attempts = CASE WHEN old.expires_at > now() THEN old.attempts ELSE 0 END,
      expires_at = CASE WHEN old.expires_at > now() THEN old.expires_at ELSE excluded.expires_at END,
      email = CASE WHEN old.expires_at > now() THEN old.email ELSE excluded.email END,
      device = excluded.device,
      is_mailed = old.is_mailed AND old.expires_at > now(),
      mailed_at = CASE
        WHEN old.expires_at > now() AND old.mailed_at > now() - interval '1 second' *
          CASE WHEN old.is_mailed THEN ${CODE_RESEND_SECONDS}::int ELSE ${CLAIM_SECONDS}::int END
          AND old.mailed_at < now() + interval '1 minute'
        THEN old.mailed_at ELSE now() END
    RETURNING id, email, expires_at, mailed_at = now() AS mail_due`.execute(db)
  const row = rows[0]
  if (!row) throw new Error('an upsert returned no row')
  return { id: row.id, email: row.email, mailDue: row.mail_due, expiresAt: row.expires_at }
}

/** The mail is queued: its code may be guessed from now on. */
export async function markMailed(db: Queryable, id: string): Promise<void> {
  const queued = { is_mailed: true, mail_state: 'queued' } as const
  await db.updateTable('codes').set(queued).where('id', '=', id).execute()
}

/** Remembers what has become of an operation's mail. */
export async function keepMailState(
  db: Queryable,
  id: string,
  mail_state: MailState,
): Promise<void> {
  await db.updateTable('codes').set({ mail_state }).where('id', '=', id).execute()
}

/** What has become of the mail of a client's live operation; undefined where there is none. */
export async function selectMailState(
  db: Queryable,
  { id, clientHash }: Pick<Attempt, 'id' | 'clientHash'>,
): Promise<MailState | undefined> {
  const row = await db
    .selectFrom('codes')
    .select('mail_state')
    .where('id', '=', id)
    .where('client_hash', '=', clientHash)
    .where('expires_at', '>', sql<Date>`now()`)
    .where('is_mailed', '=', true)
    .executeTakeFirst()
  return row?.mail_state
}

/** Takes back that a mail is on its way. */
export async function unclaimMail(db: Queryable, id: string): Promise<void> {
  await db.updateTable('codes').set({ mailed_at: null }).where('id', '=', id).execute()
}

export type Attempt = { id: string; purpose: Purpose; userId: string; clientHash: Buffer }

/** A live, mailed operation of this purpose, user and client. */
function guessable({ id, purpose, userId, clientHash }: Attempt) {
  return (eb: ExpressionBuilder<Tables, 'codes'>) =>
    eb.and([
      eb('id', '=', id),
      eb('purpose', '=', purpose),
      eb('user_id', '=', userId),
      eb('client_hash', '=', clientHash),
      eb('expires_at', '>', sql<Date>`now()`),
      eb('is_mailed', '=', true),
    ])
}

/** How many attempts were made at an operation; undefined where there is none. */
export async function selectAttempts(db: Queryable, attempt: Attempt): Promise<number | undefined> {
  const row = await db
    .selectFrom('codes')
    .select('attempts')
    .where(guessable(attempt))
    .executeTakeFirst()
  return row?.attempts
}

/** Counts one attempt at an operation; undefined where there is none. */
export function countAttempt(db: Queryable, attempt: Attempt) {
  return db
    .updateTable('codes')
    .set((eb) => ({ attempts: eb('attempts', '+', 1) }))
    .where(guessable(attempt))
    .returning(['attempts', 'email', 'device'])
    .executeTakeFirst()
}

/** Removes an operation; false when it was gone already. */
export async function removeOperation(db: Queryable, id: string): Promise<boolean> {
  const { numDeletedRows } = await db.deleteFrom('codes').where('id', '=', id).executeTakeFirst()
  return numDeletedRows > 0n
}

/** Removes every operation that a user has begun for one purpose. */
export async function endOperations(
  tx: Queryable,
  { purpose, userId }: { purpose: Purpose; userId: string },
): Promise<void> {
  await tx
    .deleteFrom('codes')
    .where('user_id', '=', userId)
    .where('purpose', '=', purpose)
    .execute()
}

export async function removeExpiredOperations(db: Queryable): Promise<void> {
  await db.deleteFrom('codes').where('expires_at', '<', sql<Date>`now()`).execute()
}
