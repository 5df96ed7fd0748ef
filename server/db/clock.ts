import { sql } from 'kysely'
import type { Queryable } from './database.ts'

/** The time by the database's clock, in unix milliseconds: deadlines that are kept in the database are held against it. */
export async function databaseTime(db: Queryable): Promise<number> {
  const { rows } = await sql<{ ms: number }>`
    SELECT (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS ms`.execute(db)
  return rows[0]?.ms ?? Number.NaN
}

/**
 * By how many milliseconds this machine's clock is ahead of the database's (negative: behind), as far as that is sure:
 * what the question itself took is taken off.
 */
export async function clockSkew(db: Queryable): Promise<number> {
  const before = Date.now()
  const theirs = await databaseTime(db)
  const after = Date.now()
  if (theirs < before) return before - theirs
  return theirs > after ? after - theirs : 0
}
