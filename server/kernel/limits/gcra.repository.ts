import { createHmac } from 'node:crypto'
import { sql } from 'kysely'
import type { Pool } from 'pg'
import { unlessAhead } from '../db/clock.ts'
import type { Queryable } from '../db/database.ts'
import { allowed, type Counter, type Pace } from './gcra.ts'

const STEP = `$2::float8 * interval '1 second'`
const ARRIVAL = unlessAhead('old.arrival', 'old.charged_at')
/**
 * clock_timestamp() is read once the row is locked: now() could be earlier than what others have
 * written meanwhile.
 */
const WAIT = `coalesce(extract(epoch FROM ${ARRIVAL} - clock_timestamp()), 0)::float8`

/** Counts an event of the key $1 at a step of $2 seconds, where $3 may happen at once. */
const CHARGE = `
  WITH charged AS (
    INSERT INTO rate_limits AS old (key, arrival) VALUES ($1, clock_timestamp() + ${STEP})
    ON CONFLICT (key) DO UPDATE SET charged_at = clock_timestamp(),
      arrival = ${STEP} + greatest(${ARRIVAL}, clock_timestamp())
    WHERE ${WAIT} <= ($3::float8 - 1) * $2
    RETURNING 0 AS wait
  )
  SELECT wait FROM charged UNION ALL
  SELECT greatest(0.001, ${WAIT} - ($3::float8 - 1) * $2) FROM rate_limits old
  WHERE key = $1 AND NOT EXISTS (SELECT FROM charged)`
const REFUND = `UPDATE rate_limits SET arrival = arrival - ${STEP} WHERE key = $1`
const SPENT = `SELECT FROM rate_limits old
  WHERE key = $1 AND ${WAIT} > ($3::float8 - 1) * $2`

/** Counts by the clock of the database, so that nodes share the pace. */
export function countInDatabase(pool: Pool, pace: Pace, nameOf: (key: string) => string): Counter {
  const { burst, step } = pace
  return {
    async charge(key, share) {
      const values = [nameOf(key), step, allowed(pace, share)]
      const { rows } = await pool.query<{ wait: number }>(CHARGE, values)
      // Without a row, the event was refused by one that was counted after the statement began.
      return rows[0]?.wait ?? step
    },
    async refund(key) {
      await pool.query(REFUND, [nameOf(key), step])
    },
    async isSpent(key) {
      const { rows } = await pool.query(SPENT, [nameOf(key), step, burst])
      return rows.length > 0
    },
  }
}

/** Stores keys as HMACs with `secret`: a copy of the database must not reveal who called. */
export function countHashed(pool: Pool, secret: Buffer) {
  const hash = (key: string) => createHmac('sha256', secret).update(key).digest('base64url')
  return (pace: Pace, name: string) => countInDatabase(pool, pace, (key) => `${name} ${hash(key)}`)
}

/** Deletes the counts of keys that have their whole burst again. */
export async function removeExpiredLimits(db: Queryable): Promise<void> {
  await db.deleteFrom('rate_limits').where('arrival', '<', sql<Date>`now()`).execute()
}
