import { sql } from 'kysely'
import type { Db, Queryable } from '../db/database.ts'
import { DAY, type NetworkRequests, secondsUntilGuess, secondsUntilMail } from './mail-places.ts'

/** Keyed hashes of a mailbox, and of the network that requests a mail to it or checks a code from it. */
export type MailRequest = { mailbox: Buffer; network: Buffer }

const A_DAY = sql.raw(`interval '${DAY} seconds'`)
/** Stands for a network that never requested a mail: so long ago that it is not taken for one that waits. */
const NOT_ASKED = sql.raw(`'epoch'::timestamptz`)

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
    const { own, others } = await lockRequests(tx, request)
    const wait = secondsUntilMail(own, others, scale)
    await putRequest(tx, request, wait === 0)
    return wait
  })
}

/**
 * Decides whether a network may check a code from a mailbox, and counts it if it `isWrong`. Returns 0 where it may, otherwise
 * the seconds to wait, whatever the code. The lock makes sure that no two count as the same guess.
 */
export function takeGuess(
  db: Db,
  { isWrong, ...request }: MailRequest & { isWrong: boolean },
  scale: number,
): Promise<number> {
  return db.transaction().execute(async (tx) => {
    const { own, others } = await lockRequests(tx, request)
    const wait = secondsUntilGuess(own, others, scale)
    if (wait === 0 && isWrong) await putWrongCode(tx, request)
    return wait
  })
}

/** Returns what a network has done about a mailbox, and what the others have, which wait until the transaction ends. */
async function lockRequests(tx: Queryable, { mailbox, network }: MailRequest) {
  await sql`SELECT pg_advisory_xact_lock(${mailbox.readBigInt64BE()}::bigint)`.execute(tx)
  const requests = await selectRequests(tx, mailbox)
  const own = requests.find((one) => one.network.equals(network))
  return { own, others: requests.filter((one) => one !== own) }
}

/** Returns the networks that caused a mail within the last day, or wait for their first. */
async function selectRequests(tx: Queryable, mailbox: Buffer) {
  const { rows } = await sql<NetworkRequests & { network: Buffer }>`
    SELECT network, extract(epoch FROM clock_timestamp() - asked_at)::float8 AS "askedAgo",
      ARRAY(
        SELECT extract(epoch FROM clock_timestamp() - mailed)::float8 FROM unnest(mailed_at) mailed
        WHERE ${isPastDay('mailed')}
      ) AS "mailedAgo",
      ARRAY(
        SELECT extract(epoch FROM clock_timestamp() - wrong)::float8 FROM unnest(wrong_at) wrong
        WHERE ${isPastDay('wrong')}
      ) AS "wrongAgo"
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
      asked_at = CASE WHEN ${isLive('old.expires_at')} AND old.asked_at > ${NOT_ASKED}
        THEN old.asked_at ELSE excluded.asked_at END,
      mailed_at = excluded.mailed_at || ARRAY(
        SELECT mailed FROM unnest(old.mailed_at) mailed WHERE ${isPastDay('mailed')}
      ),
      expires_at = excluded.expires_at`.execute(tx)
}

/** Stores for a day that a wrong code came from a network. */
async function putWrongCode(tx: Queryable, { mailbox, network }: MailRequest) {
  await sql`INSERT INTO code_mails AS old (mailbox, network, asked_at, mailed_at, wrong_at, expires_at)
    VALUES (
      ${mailbox}, ${network}, ${NOT_ASKED}, '{}', ARRAY[clock_timestamp()], clock_timestamp() + ${A_DAY}
    )
    ON CONFLICT (mailbox, network) DO UPDATE SET
      wrong_at = excluded.wrong_at || ARRAY(
        SELECT wrong FROM unnest(old.wrong_at) wrong WHERE ${isPastDay('wrong')}
      ),
      expires_at = excluded.expires_at`.execute(tx)
}

export async function removeExpiredMailPlaces(db: Queryable): Promise<void> {
  await db.deleteFrom('code_mails').where('expires_at', '<', sql<Date>`now()`).execute()
}
