import { sql } from 'kysely'
import type { Queryable } from '../db/database.ts'
import type { StoredCharge } from '../db/tables.ts'

/** One event of a key that allows `burst` events at once, and then one in `step` seconds. */
export type SharedCount = StoredCharge & { burst: number }

/** Counts all events or none. Returns the seconds to wait for each. */
export async function chargeSharedLimits(db: Queryable, counts: SharedCount[]): Promise<number[]> {
  const charge = sql<{ waits: number[] }>`SELECT charge_limits(${arraysOf(counts)}) AS waits`
  return (await charge.execute(db)).rows[0]?.waits ?? []
}

/** Returns the seconds until each event may happen; negative if more than one may happen now. */
export async function selectWaits(db: Queryable, counts: SharedCount[]): Promise<number[]> {
  const { rows } = await sql<{ wait: number }>`
    SELECT coalesce(extract(epoch FROM counted.arrival - clock_timestamp()), 0)::float8
      - (asked.burst - 1) * asked.step AS wait
    FROM unnest(${arraysOf(counts)}) WITH ORDINALITY AS asked (key, step, burst, place)
    LEFT JOIN rate_limits AS counted ON counted.key = asked.key
      AND counted.charged_at <= clock_timestamp() + interval '1 minute'
    ORDER BY asked.place`.execute(db)
  return rows.map(({ wait }) => wait)
}

export async function refundSharedLimits(db: Queryable, counts: StoredCharge[]): Promise<void> {
  const refund = sql`SELECT refund_limits(${keysOf(counts)}::text[], ${stepsOf(counts)}::float8[])`
  await refund.execute(db)
}

export async function removeExpiredLimits(db: Queryable): Promise<void> {
  // Locked rows are skipped: a charge may hold one of these rows and wait for another.
  await sql`DELETE FROM rate_limits WHERE key IN
    (SELECT key FROM rate_limits WHERE arrival < now() FOR UPDATE SKIP LOCKED)`.execute(db)
}

const keysOf = (counts: StoredCharge[]) => counts.map(({ key }) => key)
const stepsOf = (counts: StoredCharge[]) => counts.map(({ step }) => step)

const arraysOf = (counts: SharedCount[]) =>
  sql`${keysOf(counts)}::text[], ${stepsOf(counts)}::float8[], ${counts.map(({ burst }) => burst)}::float8[]`
