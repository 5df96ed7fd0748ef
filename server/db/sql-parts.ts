import { sql } from 'kysely'

/** SQL for a time in unix seconds, rounded down. */
export function unixSeconds(time: string) {
  return sql.raw<number>(`floor(extract(epoch FROM ${time}))::float8`)
}

/** SQL for whether the row `b` of blocks is in force. */
export const IS_BLOCK_IN_FORCE = sql<boolean>`coalesce(b.until > now(), true)`
