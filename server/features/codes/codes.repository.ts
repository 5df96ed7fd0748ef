import { type ExpressionBuilder, type Insertable, sql } from 'kysely'
import type { MailState } from '../../../contract/codes.ts'
import { CODE_ATTEMPTS, CODE_RESEND_SECONDS } from '../../../contract/constants.ts'
import { isRecent } from '../../kernel/db/clock.ts'
import type { Queryable } from '../../kernel/db/database.ts'
import type { OutboxState, Purpose, StoredCharge, Tables } from '../../kernel/db/tables.ts'
import { IS_PAUSED } from '../../kernel/mail/outbox.repository.ts'
import { isMailWaiting } from '../../kernel/mail/queue-mail.ts'

export type NewOperation = Pick<
  Insertable<Tables['codes']>,
  'id' | 'purpose' | 'email' | 'email_key' | 'user_id' | 'device' | 'known_by'
> & {
  client_hash: Buffer
  network_client_hash: Buffer | null
  /** What its mail is charged, and the request for it. */
  charges: StoredCharge[]
}

const SECONDS_LEFT = sql<number>`extract(epoch FROM expires_at - now())::float8`.as('secondsLeft')

type StoredOperation = {
  id: string
  email: string
  expiresAt: Date
  /** Whether the caller has to queue the mail in its transaction. */
  mailDue: boolean
  /** The seconds until the operation ends if no attempt is left; null otherwise. */
  lockedFor: number | null
}

/**
 * Stores an operation, or finds the live operation with the same purpose, e-mail, user and client.
 * It keeps its address: an address that only compares equal may belong to another user.
 */
export async function upsertOperation(
  tx: Queryable,
  operation: NewOperation,
  lifeSeconds: number,
): Promise<StoredOperation> {
  const inserted = await insertOperation(tx, operation, lifeSeconds)
  if (inserted) return { ...inserted, mailDue: true, lockedFor: null }
  const stored = await lockOperation(tx, operation, lifeSeconds)
  if (!stored?.isLive) {
    if (stored) await removeOperation(tx, stored.id)
    return upsertOperation(tx, operation, lifeSeconds)
  }
  const mayMail = !isLocked(stored) && !stored.isJustMailed
  const mailDue = mayMail && !(await isMailWaiting(tx, mailKey(stored.id)))
  const { device, known_by, charges } = operation
  const mailed = {
    mail_state: 'queued' as const,
    mailed_at: sql<Date>`now()`,
    known_by,
    charges: withMore(charges),
  }
  await tx
    .updateTable('codes')
    .set({ device, ...(mailDue && mailed) })
    .where('id', '=', stored.id)
    .execute()
  const { id, email, expiresAt } = stored
  return { id, email, expiresAt, mailDue, lockedFor: isLocked(stored) ? stored.secondsLeft : null }
}

export function mailKey(id: string): string {
  return `code ${id}`
}

function isLocked({ attempts }: { attempts: number }): boolean {
  return attempts >= CODE_ATTEMPTS
}

function insertOperation(tx: Queryable, operation: NewOperation, lifeSeconds: number) {
  return tx
    .insertInto('codes')
    .values({
      ...operation,
      charges: json(operation.charges),
      mailed_at: sql<Date>`now()`,
      expires_at: sql<Date>`now() + ${lifeSeconds} * interval '1 second'`,
    })
    .onConflict((conflict) => conflict.doNothing())
    .returning(['id', 'email', 'expires_at as expiresAt'])
    .executeTakeFirst()
}

function lockOperation(tx: Queryable, operation: NewOperation, lifeSeconds: number) {
  const startedAt = `expires_at - interval '${lifeSeconds} seconds'`
  return tx
    .selectFrom('codes')
    .select(['id', 'email', 'expires_at as expiresAt', 'attempts', SECONDS_LEFT])
    .select(isRecent(startedAt, lifeSeconds).as('isLive'))
    .select(isRecent('mailed_at', CODE_RESEND_SECONDS).as('isJustMailed'))
    .where('purpose', '=', operation.purpose)
    .where('email_key', '=', operation.email_key)
    .where('user_id', '=', operation.user_id)
    .where(whereStartedBy(operation))
    .forUpdate()
    .executeTakeFirst()
}

/** A browser without a cookie is found by its network; each of its starts has another cookie. */
function whereStartedBy({ client_hash, network_client_hash }: NewOperation) {
  return (eb: ExpressionBuilder<Tables, 'codes'>) =>
    network_client_hash === null
      ? eb('client_hash', '=', client_hash)
      : eb('network_client_hash', '=', network_client_hash)
}

export async function lockMailedOperation(tx: Queryable, id: string): Promise<void> {
  await tx.selectFrom('codes').select('id').where('id', '=', id).forNoKeyUpdate().execute()
}

const SHOWN_STATES: Record<OutboxState, MailState> = {
  queued: 'queued',
  retrying: 'retrying',
  limited: 'retrying',
  slowed: 'retrying',
  sent: 'sent',
  refused: 'refused',
  // The mail server received it twice, so it has probably arrived, or the code has expired.
  expired: 'sent',
}

/** Stores a mail's state. Once it is sent, the operation ends after at most `ttlSeconds`. */
export async function storeMailState(
  tx: Queryable,
  id: string,
  { state, ttlSeconds }: { state: OutboxState; ttlSeconds: number },
): Promise<void> {
  const expires_at = sql<Date>`least(expires_at, now() + ${ttlSeconds} * interval '1 second')`
  await tx
    .updateTable('codes')
    .set({ mail_state: SHOWN_STATES[state], ...(state === 'sent' && { expires_at }) })
    .where('id', '=', id)
    .execute()
}

/** Shows a queued mail as retrying while the mail server refuses the login. */
const SHOWN_STATE = sql<MailState>`CASE WHEN mail_state = 'queued' AND ${IS_PAUSED} THEN 'retrying'
  ELSE mail_state END`

export function selectMailState(db: Queryable, { id, ...client }: Pick<Attempt, 'id'> & Client) {
  return db
    .selectFrom('codes')
    .select([
      SHOWN_STATE.as('state'),
      'expires_at as expiresAt',
      'attempts',
      'purpose',
      SECONDS_LEFT,
    ])
    .where('id', '=', id)
    .where(isBoundTo(client))
    .where('expires_at', '>', sql<Date>`now()`)
    .executeTakeFirst()
}

/** A client as an operation knows it: by its token and cookie, or by its token and network. */
export type Client = { clientHash: Buffer; networkClientHash: Buffer }

export type Attempt = Client & { id: string; purpose: Purpose; userId: string }

/** SQL for whether an operation is bound to the client. */
export function isBoundTo({ clientHash, networkClientHash }: Client) {
  return sql<boolean>`(client_hash = ${clientHash} OR network_client_hash = ${networkClientHash})`
}

function whereGuessable({ id, purpose, userId, ...client }: Attempt) {
  return (eb: ExpressionBuilder<Tables, 'codes'>) =>
    eb.and([
      eb('id', '=', id),
      eb('purpose', '=', purpose),
      eb('user_id', '=', userId),
      isBoundTo(client),
      eb('expires_at', '>', sql<Date>`now()`),
    ])
}

/** Selects the operation whose code this client may guess; undefined if it has ended. */
export function selectGuessable(db: Queryable, attempt: Attempt) {
  return db
    .selectFrom('codes')
    .select(['attempts', 'email', 'device', 'known_by as knownBy', SECONDS_LEFT])
    .where(whereGuessable(attempt))
    .executeTakeFirst()
}

/** Counts an attempt and returns the total; undefined if the operation has ended. */
export function countAttempt(db: Queryable, attempt: Attempt) {
  return db
    .updateTable('codes')
    .set((eb) => ({ attempts: eb('attempts', '+', 1) }))
    .where(whereGuessable(attempt))
    .returning(['attempts', 'known_by as knownBy', SECONDS_LEFT])
    .returning(['client_hash as clientHash', 'network_client_hash as networkClientHash'])
    .executeTakeFirst()
}

const json = (charges: StoredCharge[]) => sql<StoredCharge[]>`${JSON.stringify(charges)}::jsonb`

const withMore = (charges: StoredCharge[]) => sql<StoredCharge[]>`charges || ${json(charges)}`

/** Stores further charges of an operation, which its right code refunds. */
export async function addCharges(
  tx: Queryable,
  id: string,
  charges: StoredCharge[],
): Promise<void> {
  await tx
    .updateTable('codes')
    .set({ charges: withMore(charges) })
    .where('id', '=', id)
    .execute()
}

/** How long after the last wrong code the operation ends and another may be started. */
const LOCK_SECONDS = 60

/** Lets an operation without tries end soon. Returns the seconds until then. */
export async function endSoon(tx: Queryable, id: string): Promise<number> {
  const { secondsLeft } = await tx
    .updateTable('codes')
    .set({
      expires_at: sql<Date>`least(expires_at, now() + ${LOCK_SECONDS} * interval '1 second')`,
    })
    .where('id', '=', id)
    .returning(SECONDS_LEFT)
    .executeTakeFirstOrThrow()
  return secondsLeft
}

/** Removes an operation. Returns what it was charged. */
export async function removeOperation(tx: Queryable, id: string): Promise<StoredCharge[]> {
  const removed = tx.deleteFrom('codes').where('id', '=', id).returning('charges')
  return (await removed.executeTakeFirst())?.charges ?? []
}

export async function removeOperations(
  tx: Queryable,
  { purpose, userId }: { purpose: Purpose; userId: string },
): Promise<void> {
  const operations = tx.deleteFrom('codes').where('user_id', '=', userId)
  await operations.where('purpose', '=', purpose).execute()
}

export async function removeExpiredOperations(db: Queryable): Promise<void> {
  await db.deleteFrom('codes').where('expires_at', '<', sql<Date>`now()`).execute()
}
