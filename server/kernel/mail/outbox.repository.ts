import { createHmac } from 'node:crypto'
import { sql } from 'kysely'
import { hasCome } from '../db/clock.ts'
import type { Db, Queryable } from '../db/database.ts'
import type { OutboxState } from '../db/tables.ts'
import { emailKey } from './email-address.ts'
import { IS_PAUSED, PAUSE } from './login-pause.repository.ts'
import { type QueuedMail, wakeSenders } from './queue-mail.ts'
import { LONGEST_CONVERSATION_SECONDS } from './relay.ts'

/** Longer than sending a mail and storing its outcome take, so that no two processes send it. */
const CLAIM = `interval '${LONGEST_CONVERSATION_SECONDS + 10} seconds'`
/** No mail is put off for longer. */
export const LONGEST_WAIT_MS = 300_000

const CLAIM_IS_OVER = hasCome('claimed_until', `2 * ${CLAIM}`)

/** Matches the mails that nobody is sending and that may be tried. */
const IS_DUE = sql<boolean>`payload IS NOT NULL
  AND ${hasCome('due_at', `interval '${(2 * LONGEST_WAIT_MS) / 1000} seconds'`)}
  AND (claimed_until IS NULL OR ${CLAIM_IS_OVER})`

export type ClaimedMail = {
  id: string
  task: string
  payload: QueuedMail
  leftMs: number
  claimedUntil: Date
  state: OutboxState
  tries: number
  isUnanswered: boolean
  /** Whether this mail tries a refused login again, as one a minute does. */
  isProbe: boolean
}

/**
 * The most conversations at once with the servers of one domain. A network that asked for mails has
 * one conversation to a new address and one to a known address at once. So a mail server that hangs
 * does not occupy all senders.
 */
const DOMAIN_MAX = 2
const RUNNING = sql`running AS MATERIALIZED (
  SELECT domain, payload->>'asker' AS asker, is_to_new_address FROM outbox
  WHERE payload IS NOT NULL AND NOT ${CLAIM_IS_OVER}
)`
const MUST_WAIT = sql<boolean>`(
  SELECT count(*) FILTER (WHERE running.domain = outbox.domain) >= ${sql.lit(DOMAIN_MAX)}
    OR count(*) FILTER (WHERE running.asker = outbox.payload->>'asker'
      AND running.is_to_new_address = outbox.is_to_new_address) > 0
  FROM running
)`
const CLAIMING = sql`SELECT pg_advisory_xact_lock(hashtext('claim a mail'))`

type Claim = {
  tasks: string[]
  /** Whether only codes for people with accounts are claimed. */
  isReserved: boolean
}

/**
 * Claims a due mail for a minute: mails that were never tried before others, and of these codes for
 * people with accounts first; none while its domain or network has its share; one a minute while
 * the login is refused.
 */
export function claimMail(db: Db, { tasks, isReserved }: Claim): Promise<ClaimedMail | undefined> {
  return db.transaction().execute(async (tx) => {
    // One after another, so that each sees what the others have claimed.
    await CLAIMING.execute(tx)
    const { rows } = await sql<ClaimedMail>`
    WITH probe AS (
      UPDATE mail_pause SET next_try_at = now() + ${sql.raw(PAUSE)}
      WHERE refused_since IS NOT NULL AND ${hasCome('next_try_at', `2 * ${PAUSE}`)}
        AND EXISTS (SELECT FROM outbox WHERE ${IS_DUE} AND expires_at > now())
      RETURNING true
    ), ${RUNNING}, due AS (
      SELECT id FROM outbox
      WHERE ${IS_DUE} AND task = ANY(${tasks}) AND CASE WHEN EXISTS (SELECT FROM probe)
        THEN expires_at > now() ELSE expires_at <= now() OR NOT ${IS_PAUSED} END
        AND (NOT ${isReserved} OR is_urgent AND NOT is_to_new_address) AND NOT ${MUST_WAIT}
      ORDER BY tries > 0, is_urgent DESC, is_to_new_address, due_at, id LIMIT 1
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

/** Puts off the waiting mails to a domain whose server did not reply. */
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
  /** Present where the mail server was asked. */
  attempt?: Attempt
}

type Attempt = {
  /** nodemailer's name of the error, the server's reply code, its answer with addresses masked. */
  error?: string | undefined
  reply?: number | undefined
  answer?: string | undefined
  /** Whether the whole mail was sent, and no reply came. */
  isUnanswered?: boolean
}

/** Stores what has become of a mail. Returns false if the claim is over, and changes nothing. */
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

/** Returns the same id at each try. Row ids begin anew in a restored database. */
export function messageId(
  { id, payload }: Pick<ClaimedMail, 'id' | 'payload'>,
  logKey: Buffer,
): string {
  return createHmac('sha256', logKey).update(`${id} ${payload.expiresAt}`).digest('base64url')
}

export function hashAddress(address: string, logKey: Buffer): Buffer {
  return createHmac('sha256', logKey).update(emailKey(address)).digest()
}
