import { sql } from 'kysely'
import type { Db, Queryable } from '../db/database.ts'
import { DAY, type NetworkRequests, secondsUntilMail } from './mail-places.ts'

/** Keyed hashes of a mailbox, and of the network that requests a mail to it. */
export type MailRequest = { mailbox: Buffer; network: Buffer }

const A_DAY = sql.raw(`interval '${DAY} seconds'`)

/**
 * SQL: whether a time lies within the last day. A time in the future was written while the clock was ahead, and does not
 * count.
 */
function isPastDay(column: string) {
  const time = sql.raw(column)
  return sql`(${time} > clock_timestamp() - ${A_DAY} AND ${time} <= clock_timestamp())`
}

/**
 * SQL: whether a row that expires a day after its last use is live. An expiry later than that was written while the clock
 * was ahead.
 */
function isLive(column: string) {
  const time = sql.raw(column)
  return sql`(${time} > clock_timestamp() AND ${time} <= clock_timestamp() + ${A_DAY})`
}

/**
 * Counts a code mail to a mailbox for a network, if the limits allow it. Returns 0 then, otherwise the seconds to wait. An
 * advisory lock per mailbox makes sure that no two requests count as the same mail.
 */
export function takeMailPlace(db: Db, request: MailRequest, scale: number): Promise<number> {
  return db.transaction().execute(async (tx) => {
    await sql`SELECT pg_advisory_xact_lock(${request.mailbox.readBigInt64BE()}::bigint)`.execute(tx)
    const requests = await selectRequests(tx, request.mailbox)
    const own = requests.find(({ network }) => network.equals(request.network))
    const others = requests.filter((one) => one !== own)
    const wait = secondsUntilMail(own, others, scale)
    await putRequest(tx, request, wait === 0)
    return wait
  })
}

/** Returns the networks that caused a mail within the last day, or wait for their first. */
async function selectRequests(tx: Queryable, mailbox: Buffer) {
  const { rows } = await sql<NetworkRequests & { network: Buffer }>`
    SELECT network, extract(epoch FROM clock_timestamp() - asked_at)::float8 AS "askedAgo",
      ARRAY(
        SELECT extract(epoch FROM clock_timestamp() - mailed)::float8 FROM unnest(mailed_at) mailed
        WHERE ${isPastDay('mailed')}
      ) AS "mailedAgo"
    FROM code_mails
    WHERE mailbox = ${mailbox} AND ${isLive('expires_at')}`.execute(tx)
  return rows
}

/** Stores for a day that a network made a request, and when its mails were sent. */
async function putRequest(tx: Queryable, { mailbox, network }: MailRequest, isMailed: boolean) {
  await sql`INSERT INTO code_mails AS old (mailbox, network, asked_at, mailed_at, expires_at)
    VALUES (
      ${mailbox}, ${network}, clock_timestamp(),
      CASE WHEN ${isMailed} THEN ARRAY[clock_timestamp()] ELSE '{}'::timestamptz[] END,
      clock_timestamp() + ${A_DAY}
    )
    ON CONFLICT (mailbox, network) DO UPDATE SET
      asked_at = CASE WHEN ${isLive('old.expires_at')} THEN old.asked_at ELSE excluded.asked_at END,
      mailed_at = excluded.mailed_at || ARRAY(
        SELECT mailed FROM unnest(old.mailed_at) mailed WHERE ${isPastDay('mailed')}
      ),
      expires_at = excluded.expires_at`.execute(tx)
}

export async function removeExpiredMailPlaces(db: Queryable): Promise<void> {
  await db.deleteFrom('code_mails').where('expires_at', '<', sql<Date>`now()`).execute()
}
