import { createHmac } from 'node:crypto'
import { type RawBuilder, sql } from 'kysely'
import { hasCome } from '../db/clock.ts'
import type { Db, Queryable } from '../db/database.ts'
import type { OutboxState } from '../db/tables.ts'
import { emailKey } from './email-address.ts'
import { type QueuedMail, SENDERS, wakeSenders } from './queue-mail.ts'
import { LONGEST_CONVERSATION_SECONDS } from './relay.ts'

const CLAIM = `interval '${LONGEST_CONVERSATION_SECONDS + 10} seconds'`
export const LONGEST_WAIT_MS = 300_000

/** While the mail server refuses the login, all nodes together try one mail this often. */
const PAUSE_MS = 60_000
const PAUSE = `interval '${PAUSE_MS} milliseconds'`
export const IS_PAUSED = sql<boolean>`EXISTS (SELECT FROM mail_pause WHERE refused_since IS NOT NULL)`

const CLAIM_IS_OVER = hasCome('claimed_until', `2 * ${CLAIM}`)

const IS_DUE = sql<boolean>`payload IS NOT NULL
  AND ${hasCome('due_at', `interval '${(2 * LONGEST_WAIT_MS) / 1000} seconds'`)}
  AND (claimed_until IS NULL OR ${CLAIM_IS_OVER})`

/** Mails that wait for a limit are all due at its next slot, which is for the oldest of them. */
const DUE_SINCE = sql`CASE WHEN state IN ('limited', 'slowed') THEN queued_at ELSE due_at END`

export type ClaimedMail = {
  id: string
  task: string
  payload: QueuedMail
  leftMs: number
  claimedUntil: Date
  state: OutboxState
  tries: number
  isUnanswered: boolean
  /** Whether this mail retries a refused login, as one mail a minute does. */
  isProbe: boolean
}

/** The most conversations with one domain: a server that hangs must not occupy all senders. */
const DOMAIN_MAX = 2
/** The most for one network, each with another domain: its people wait for no server that hangs. */
const ASKER_MAX = 2
const MUST_WAIT = sql<boolean>`(
  SELECT count(*) FILTER (WHERE is_of_domain) >= ${sql.lit(DOMAIN_MAX)}
    OR count(*) FILTER (WHERE is_of_asker) >= ${sql.lit(ASKER_MAX)}
    OR count(*) FILTER (WHERE is_of_domain AND is_of_asker) > 0
  FROM running, LATERAL (SELECT running.domain = outbox.domain AS is_of_domain,
    running.asker = outbox.payload->>'asker'
      AND running.is_to_new_address = outbox.is_to_new_address AS is_of_asker) compared
)`

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

/** Claims a due mail for a minute: codes first, of these untried ones, then known addresses. */
export function claimMail(db: Db, { tasks, lane }: Claim): Promise<ClaimedMail | undefined> {
  return db.transaction().execute(async (tx) => {
    await sql`SELECT pg_advisory_xact_lock(hashtext('claim a mail'))`.execute(tx)
    const { rows } = await sql<ClaimedMail>`
    WITH probe AS (
      UPDATE mail_pause SET next_try_at = now() + ${sql.raw(PAUSE)}
      WHERE refused_since IS NOT NULL AND ${hasCome('next_try_at', `2 * ${PAUSE}`)}
        AND EXISTS (SELECT FROM outbox WHERE ${IS_DUE} AND expires_at > now())
      RETURNING true
    ), running AS MATERIALIZED (
      SELECT domain, payload->>'asker' AS asker, is_to_new_address FROM outbox
      WHERE payload IS NOT NULL AND NOT ${CLAIM_IS_OVER}
    ), due AS (
      SELECT id FROM outbox
      WHERE ${IS_DUE} AND task = ANY(${tasks}) AND CASE WHEN EXISTS (SELECT FROM probe)
        THEN expires_at > now() ELSE expires_at <= now() OR NOT ${IS_PAUSED} END
        AND ${OF_LANE[lane]} AND NOT ${MUST_WAIT}
      ORDER BY is_urgent DESC, tries > 0, is_to_new_address, ${IS_DIGEST}, ${DUE_SINCE}, id LIMIT 1
      FOR UPDATE SKIP LOCKED
    )
    UPDATE outbox SET claimed_until = date_trunc('milliseconds', now() + ${sql.raw(CLAIM)})
    FROM due WHERE outbox.id = due.id
    RETURNING outbox.id, task, payload, claimed_until AS "claimedUntil", state, tries,
      (extract(epoch FROM expires_at - now()) * 1000)::float8 AS "leftMs",
      is_unanswered AS "isUnanswered", EXISTS (SELECT FROM probe) AS "isProbe"`.execute(tx)
    return rows[0]
  })
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
export async function settleMail(
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
