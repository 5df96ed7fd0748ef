import { type ExpressionBuilder, sql } from 'kysely'
import type { MailState } from '../../../contract/codes.ts'
import { CODE_ATTEMPTS, CODE_RESEND_SECONDS } from '../../../contract/constants.ts'
import type { Device } from '../../../contract/fields.ts'
import { hasCome } from '../../kernel/db/clock.ts'
import type { Queryable } from '../../kernel/db/database.ts'
import type { OutboxState, Purpose, Tables } from '../../kernel/db/tables.ts'
import { IS_PAUSED } from '../../kernel/mail/login-pause.repository.ts'
import type { KnownBy } from './code-quota.ts'

const PAUSE = `interval '1 second' * ${CODE_RESEND_SECONDS}`
/** Whether another mail may be queued. */
const MAY_MAIL = hasCome(`old.mailed_at + ${PAUSE}`, `2 * ${PAUSE}`)

/** Whether the operation lives on, and its mail is not sent again. */
const MAILS_NOT = sql`old.expires_at > now()
  AND (old.attempts >= ${CODE_ATTEMPTS} OR NOT ${MAY_MAIL})`

type UpsertedRow = {
  id: string
  email: string
  expires_at: Date
  mail_due: boolean
  /** Seconds until it expires; null when its code can still be tried. */
  locked_for: number | null
}

export type NewOperation = {
  id: string
  purpose: Purpose
  email: string
  emailKey: string
  userId: string
  clientHash: Buffer
  device: Device | null
  /** Against whose limit its mails count. */
  knownBy: KnownBy
  /** How long it lives when its mail is never accepted. */
  lifeSeconds: number
}

/**
 * Stores an operation, or finds the live one of the same purpose, e-mail, user and client.
 * `mailDue` is true for the one caller whose transaction has to queue the mail. It is false for all
 * others for 60 s, and for everybody once no attempt is left: `lockedFor` then says for how many
 * seconds. A live operation keeps its address:
 * its code was mailed there, and an address that merely compares equal may be somebody else's.
 */
export async function upsertOperation(db: Queryable, operation: NewOperation) {
  const { rows } = await sql<UpsertedRow>`
    INSERT INTO codes AS old
      (id, purpose, email, email_key, user_id, client_hash, device, known_by, mails, mailed_at,
        expires_at)
    VALUES (
      ${operation.id}, ${operation.purpose}, ${operation.email}, ${operation.emailKey},
      ${operation.userId}, ${operation.clientHash}, ${operation.device}::jsonb,
      ${operation.knownBy}, 1, now(),
      now() + ${operation.lifeSeconds} * interval '1 second'
    )
    ON CONFLICT (purpose, email_key, user_id, client_hash) DO UPDATE SET
      id = CASE WHEN old.expires_at > now() THEN old.id ELSE excluded.id END,
      attempts = CASE WHEN old.expires_at > now() THEN old.attempts ELSE 0 END,
      expires_at = CASE WHEN old.expires_at > now() THEN old.expires_at ELSE excluded.expires_at END,
      email = CASE WHEN old.expires_at > now() THEN old.email ELSE excluded.email END,
      device = excluded.device,
      known_by = CASE WHEN ${MAILS_NOT} THEN old.known_by ELSE excluded.known_by END,
      mails = CASE WHEN ${MAILS_NOT} THEN old.mails
        WHEN old.expires_at > now() AND old.known_by IS NOT DISTINCT FROM excluded.known_by
        THEN old.mails + 1 ELSE 1 END,
      mail_state = CASE WHEN ${MAILS_NOT} THEN old.mail_state ELSE 'queued' END,
      mailed_at = CASE WHEN ${MAILS_NOT} THEN old.mailed_at ELSE now() END
    RETURNING id, email, expires_at, mailed_at = now() AS mail_due, CASE
      WHEN attempts >= ${CODE_ATTEMPTS} THEN extract(epoch FROM expires_at - now())::float8
    END AS locked_for`.execute(db)
  // An upsert returns its row.
  const [row] = rows as [UpsertedRow]
  return {
    id: row.id,
    email: row.email,
    mailDue: row.mail_due,
    expiresAt: row.expires_at,
    lockedFor: row.locked_for,
  }
}

const SHOWN: Record<OutboxState, MailState> = {
  queued: 'queued',
  limited: 'queued',
  slowed: 'queued',
  retrying: 'retrying',
  sent: 'sent',
  refused: 'refused',
  expired: 'retrying',
}

/** An accepted mail makes its code valid for `ttlSeconds`, within the operation's life. */
export async function storeMailState(
  tx: Queryable,
  id: string,
  { state, ttlSeconds }: { state: OutboxState; ttlSeconds: number },
): Promise<void> {
  const expiresAt = sql<Date>`least(expires_at, now() + ${ttlSeconds} * interval '1 second')`
  await tx
    .updateTable('codes')
    .set({ mail_state: SHOWN[state], ...(state === 'sent' && { expires_at: expiresAt }) })
    .where('id', '=', id)
    .execute()
}

/** A mail that waits for the login of the mail server is not tried one by one. */
const SHOWN_STATE = sql<MailState>`CASE WHEN mail_state = 'queued' AND ${IS_PAUSED} THEN 'retrying'
  ELSE mail_state END`

export async function selectMailState(
  db: Queryable,
  { id, clientHash }: Pick<Attempt, 'id' | 'clientHash'>,
): Promise<({ state: MailState; expiresAt: Date } & CountedAttempt) | undefined> {
  return await db
    .selectFrom('codes')
    .select([SHOWN_STATE.as('state'), 'expires_at as expiresAt', 'attempts', SECONDS_LEFT])
    .where('id', '=', id)
    .where('client_hash', '=', clientHash)
    .where('expires_at', '>', sql<Date>`now()`)
    .executeTakeFirst()
}

export type Attempt = { id: string; purpose: Purpose; userId: string; clientHash: Buffer }

function guessable({ id, purpose, userId, clientHash }: Attempt) {
  return (eb: ExpressionBuilder<Tables, 'codes'>) =>
    eb.and([
      eb('id', '=', id),
      eb('purpose', '=', purpose),
      eb('user_id', '=', userId),
      eb('client_hash', '=', clientHash),
      eb('expires_at', '>', sql<Date>`now()`),
    ])
}

const SECONDS_LEFT = sql<number>`extract(epoch FROM expires_at - now())::float8`.as('secondsLeft')

/** Whether the client of an operation has signed in before as the user with its e-mail. */
const IS_KNOWN_CLIENT = sql<boolean>`EXISTS (
  SELECT FROM known_clients k JOIN users u ON u.id = k.user_id
  WHERE u.email_key = codes.email_key AND k.client_hash = codes.client_hash
)`

export function selectOperation(db: Queryable, attempt: Attempt) {
  return db
    .selectFrom('codes')
    .select([
      'attempts',
      'email',
      'device',
      'mails',
      'known_by as knownBy',
      SECONDS_LEFT,
      IS_KNOWN_CLIENT.as('isKnownClient'),
    ])
    .where(guessable(attempt))
    .executeTakeFirst()
}

/** `secondsLeft`: until the operation ends. */
export type CountedAttempt = { attempts: number; secondsLeft: number }

/** Counts one attempt. Returns how many there were, or undefined without the operation. */
export function countAttempt(db: Queryable, attempt: Attempt): Promise<CountedAttempt | undefined> {
  return db
    .updateTable('codes')
    .set((eb) => ({ attempts: eb('attempts', '+', 1) }))
    .where(guessable(attempt))
    .returning(['attempts', SECONDS_LEFT])
    .executeTakeFirst()
}

export async function removeOperation(tx: Queryable, id: string): Promise<void> {
  await tx.deleteFrom('codes').where('id', '=', id).execute()
}

export async function removeOperations(
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
