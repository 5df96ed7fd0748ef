import { sql } from 'kysely'

export function unixSeconds(time: string) {
  return sql.raw<number>(`floor(extract(epoch FROM ${time}))::float8`)
}

/** SQL for whether the row `b` of blocks is in force. */
export const IS_BLOCK_IN_FORCE = sql<boolean>`coalesce(b.until > now(), true)`

/**
 * SQL for whether a row of moderators names a row of users: by its very address, but for the case
 * of ASCII letters. Addresses that merely compare equal may be somebody else's.
 */
export const NAMES_MODERATOR = sql<boolean>`moderators.email_key = users.email_key
  AND lower(moderators.email COLLATE "C") = lower(users.email COLLATE "C")`
