import { createHmac } from 'node:crypto'
import { type RawBuilder, sql } from 'kysely'
import { isRecent } from '../db/clock.ts'
import type { Db, Queryable } from '../db/database.ts'
import type { OutboxState } from '../db/tables.ts'
import { emailKey } from './email-address.ts'
import { type QueuedMail, SENDERS, wakeSenders } from './queue-mail.ts'
import { LONGEST_CONVERSATION_SECONDS } from './relay.ts'

/** Within it after the claim, a sender must begin the conversation. */
const BEGIN_SECONDS = 10
const CLAIM = `interval '${LONGEST_CONVERSATION_SECONDS + BEGIN_SECONDS} seconds'`
export const LONGEST_WAIT_MS = 300_000

/** While the mail server refuses the login, all nodes together try one mail this often. */
const PAUSE_MS = 60_000
const PAUSE = `interval '${PAUSE_MS} milliseconds'`
export const IS_PAUSED = sql<boolean>`EXISTS (SELECT FROM mail_pause WHERE refused_since IS NOT NULL)`

export type ClaimedMail = {
  id: string
  task: string
  payload: QueuedMail
  leftMs: number
  claimedUntil: Date
  /** By the clock of `performance`: a later conversation might go on after the claim. */
  beginBy: number
  state: OutboxState
  tries: number
  isUnanswered: boolean
  /** Whether this mail retries a refused login, as one mail a minute does. */
  isProbe: boolean
}

/** Whether a waiting mail can wait until all others have left. */
export const IS_DIGEST = sql<boolean>`coalesce((payload->>'isDigest')::boolean, false)`

/** Which mails a free sender may claim. */
export type Lane = 'all' | 'no codes to new addresses' | 'codes to known addresses'

const OF_LANE: Record<Lane, RawBuilder<boolean>> = {
  all: sql`true`,
  'no codes to new addresses': sql`NOT is_to_new_address`,
  'codes to known addresses': sql`is_urgent AND NOT is_to_new_address`,
}

type Claim = { tasks: string[]; lane: Lane }

/** Claims the next mail for a minute. The views of schema/008-mail-order.sql say which it is. */
export function claimMail(db: Db, { tasks, lane }: Claim): Promise<ClaimedMail | undefined> {
  const beginBy = performance.now() + BEGIN_SECONDS * 1000
  return db.transaction().execute(async (tx) => {
    await sql`SELECT pg_advisory_xact_lock(hashtext('claim a mail'))`.execute(tx)
    const mayProbe = await isProbeDue(tx)
    // Mails that are too late leave the queue also while the login is refused.
    const mayLeave = mayProbe
      ? sql<boolean>`true`
      : sql<boolean>`(expires_at <= now() OR NOT ${IS_PAUSED})`
    const { rows } = await sql<Omit<ClaimedMail, 'beginBy' | 'isProbe'>>`
      UPDATE outbox SET claimed_until = date_trunc('milliseconds', now() + ${sql.raw(CLAIM)})
      WHERE id = (
        SELECT id FROM sendable_mails WHERE task = ANY(${tasks}) AND ${OF_LANE[lane]} AND ${mayLeave}
        ORDER BY priority, id LIMIT 1 FOR UPDATE SKIP LOCKED
      )
      RETURNING id, task, payload, claimed_until AS "claimedUntil", state, tries,
        (extract(epoch FROM expires_at - now()) * 1000)::float8 AS "leftMs",
        is_unanswered AS "isUnanswered"`.execute(tx)
    const [mail] = rows
    if (!mail) return undefined
    const isProbe = mayProbe && mail.leftMs > 0
    // A sender that may claim none of the mails must leave the try to another one.
    if (isProbe)
      await sql`UPDATE mail_pause SET next_try_at = now() + ${sql.raw(PAUSE)}`.execute(tx)
    return { ...mail, beginBy, isProbe }
  })
}

/** Returns whether one mail may try the refused login now, as one does a minute. */
async function isProbeDue(tx: Queryable): Promise<boolean> {
  const { rows } = await sql`SELECT FROM mail_pause
    WHERE refused_since IS NOT NULL AND NOT ${isRecent(`next_try_at - ${PAUSE}`, PAUSE_MS / 1000)}`.execute(
    tx,
  )
  return rows.length > 0
}

export function pauseMails(db: Db): Promise<void> {
  return db.transaction().execute(async (tx) => {
    const pause = sql.raw(PAUSE)
    await sql`UPDATE mail_pause SET refused_since = coalesce(refused_since, now()),
      next_try_at = now() + ${pause}`.execute(tx)
    await wakeSenders(tx, PAUSE_MS)
  })
}

export function endPause(db: Db): Promise<void> {
  return changePause(db, sql`refused_since = NULL, next_try_at = NULL`)
}

/** Lets one mail be tried at once, because a start may have brought another login. */
export function shortenPause(db: Db): Promise<void> {
  return changePause(db, sql`next_try_at = now()`)
}

function changePause(db: Db, change: RawBuilder<unknown>): Promise<void> {
  return db.transaction().execute(async (tx) => {
    const { rows } = await sql`
      UPDATE mail_pause SET ${change} WHERE refused_since IS NOT NULL RETURNING true`.execute(tx)
    if (rows.length === 0) return
    for (let sender = 0; sender < SENDERS; sender++) await wakeSenders(tx)
  })
}

/** Delays the waiting mails to a mail's domain, whose server did not reply. */
export async function backOffDomain(
  tx: Queryable,
  { id, againMs }: { id: string; againMs: number },
): Promise<void> {
  await sql`UPDATE outbox SET due_at = greatest(due_at, now() + ${againMs} * interval '1 millisecond')
    WHERE id IN (SELECT id FROM outbox WHERE payload IS NOT NULL AND claimed_until IS NULL
      AND domain = (SELECT domain FROM outbox WHERE id = ${id}) FOR UPDATE SKIP LOCKED)`.execute(tx)
}

export type Outcome = {
  state: OutboxState
  againMs?: number
  attempt?: Attempt
}

type Attempt = {
  /** nodemailer's error code, the server's reply code, and its answer with addresses masked. */
  error?: string | undefined
  reply?: number | undefined
  answer?: string | undefined
  /** Whether the whole mail was sent, and no reply came. */
  isUnanswered?: boolean
}

/** Stores the outcome of a mail. Returns false, and changes nothing, if the claim has expired. */
export async function storeOutcome(
  tx: Queryable,
  { id, claimedUntil, payload, state: before }: ClaimedMail,
  { state, againMs, attempt, logKey }: Outcome & { logKey: Buffer },
): Promise<boolean> {
  const { error = null, reply = null, answer = null, isUnanswered = false } = attempt ?? {}
  const row = await tx
    .updateTable('outbox')
    .set((eb) => ({
      state,
      claimed_until: null,
      address_hash: hashAddress(payload.to, logKey),
      ...(state === before && !attempt ? {} : { at: sql<Date>`now()` }),
      ...(againMs === undefined
        ? { payload: null, key: null }
        : { due_at: sql<Date>`now() + ${againMs} * interval '1 millisecond'` }),
      ...(attempt && { tries: eb('tries', '+', 1), error, reply, answer }),
      ...(isUnanswered && { is_unanswered: true }),
    }))
    .where('id', '=', id)
    .where('claimed_until', '=', claimedUntil)
    .returning('id')
    .executeTakeFirst()
  if (row && againMs !== undefined) await wakeSenders(tx, againMs)
  return row !== undefined
}

export async function removeMail(db: Queryable, id: string): Promise<void> {
  await db.deleteFrom('outbox').where('id', '=', id).execute()
}

/** Returns the same id at each try. A row id alone could repeat after a restore. */
export function messageId(
  { id, payload }: Pick<ClaimedMail, 'id' | 'payload'>,
  logKey: Buffer,
): string {
  return createHmac('sha256', logKey).update(`${id} ${payload.expiresAt}`).digest('base64url')
}

export function hashAddress(address: string, logKey: Buffer): Buffer {
  return createHmac('sha256', logKey).update(emailKey(address)).digest()
}
