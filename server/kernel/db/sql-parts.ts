import { sql } from 'kysely'

export function unixSeconds(time: string) {
  return sql.raw<number>(`floor(extract(epoch FROM ${time}))::float8`)
}

/** SQL for whether the row `b` of blocks is in force. */
export const IS_BLOCK_IN_FORCE = sql<boolean>`coalesce(b.until > now(), true)`

/** Matches the very address but for ASCII case: merely equal ones may be somebody else's. */
export const NAMES_MODERATOR = sql<boolean>`moderators.email_key = users.email_key
  AND lower(moderators.email COLLATE "C") = lower(users.email COLLATE "C")`
