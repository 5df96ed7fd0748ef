import { sql } from 'kysely'
import type { Db, Queryable } from '../db/database.ts'
import { DAY, type NetworkAsks, secondsUntilMail } from './mail-places.ts'

/** Keyed hashes: of a mailbox, and of the network that asks for a mail to it. */
export type MailAsk = { mailbox: Buffer; network: Buffer }

const A_DAY = sql.raw(`interval '${DAY} seconds'`)

/** Whether a time lies within the last day; one to come was written by a clock that was ahead, and counts for nothing. */
function isPastDay(column: string) {
  const time = sql.raw(column)
  return sql`(${time} > clock_timestamp() - ${A_DAY} AND ${time} <= clock_timestamp())`
}

/** Whether what expires a day after it was last used does so within a day from now, and not later, by a clock that was ahead. */
function isLive(column: string) {
  const time = sql.raw(column)
  return sql`(${time} > clock_timestamp() AND ${time} <= clock_timestamp() + ${A_DAY})`
}

/**
 * Takes a place among the code mails of a mailbox for a network; returns the seconds to wait where there is none, 0 where it
 * was taken. Requests for one mailbox wait for each other, so that no two take the same place.
 */
export function takeMailPlace(db: Db, ask: MailAsk, scale: number): Promise<number> {
  return db.transaction().execute(async (tx) => {
    await sql`SELECT pg_advisory_xact_lock(${ask.mailbox.readBigInt64BE()}::bigint)`.execute(tx)
    const asks = await selectAsks(tx, ask.mailbox)
    const own = asks.find(({ network }) => network.equals(ask.network))
    const others = asks.filter((one) => one !== own)
    const wait = secondsUntilMail(own, others, scale)
    await putAsk(tx, ask, wait === 0)
    return wait
  })
}

/** The networks that set off a mail since yesterday, or wait for their first. */
async function selectAsks(tx: Queryable, mailbox: Buffer) {
  const { rows } = await sql<NetworkAsks & { network: Buffer }>`
    SELECT network, extract(epoch FROM clock_timestamp() - asked_at)::float8 AS "askedAgo",
      ARRAY(
        SELECT extract(epoch FROM clock_timestamp() - mailed)::float8 FROM unnest(mailed_at) mailed
        WHERE ${isPastDay('mailed')}
      ) AS "mailedAgo"
    FROM code_mails
    WHERE mailbox = ${mailbox} AND ${isLive('expires_at')}`.execute(tx)
  return rows
}

/** Remembers for a day that a network asked, and when its mails went out. */
async function putAsk(tx: Queryable, { mailbox, network }: MailAsk, isMailed: boolean) {
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
