import { sql } from 'kysely'
import type { Queryable } from './database.ts'

/** Returns the time by the database's clock, in unix milliseconds. Expiry times in the database are compared with it. */
export async function databaseTime(db: Queryable): Promise<number> {
  const { rows } = await sql<{ ms: number }>`
    SELECT (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS ms`.execute(db)
  return rows[0]?.ms ?? Number.NaN
}

/**
 * Returns by how many milliseconds this machine's clock is at least ahead of the database's (negative: behind). The
 * duration of the query itself is subtracted.
 */
export async function clockSkew(db: Queryable): Promise<number> {
  const before = Date.now()
  const theirs = await databaseTime(db)
  const after = Date.now()
  if (theirs < before) return before - theirs
  return theirs > after ? after - theirs : 0
}
