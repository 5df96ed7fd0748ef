import type { Pool } from 'pg'

/** The share of the hour's mails that only urgent ones may use. */
const URGENT_SHARE = 1 / 4
const KEY = 'mails of an hour'
const NOW_MS = '(extract(epoch FROM now()) * 1000)::bigint'

/** An hour begins with the first mail that is counted in it. One that ends later than that was begun by a wrong clock. */
const IS_CURRENT = `old.expire > ${NOW_MS} AND old.expire <= excluded.expire`
/** Counts a mail in the hour of the key $1, unless $2 were counted before: in one statement, so that all nodes keep to it. */
const COUNT = `
  INSERT INTO rate_limits AS old (key, points, expire) VALUES ($1, 1, ${NOW_MS} + 3600000)
  ON CONFLICT (key) DO UPDATE SET
    points = CASE WHEN ${IS_CURRENT} THEN old.points + 1 ELSE 1 END,
    expire = CASE WHEN ${IS_CURRENT} THEN old.expire ELSE excluded.expire END
  WHERE old.points < $2 OR NOT (${IS_CURRENT})
  RETURNING points`
const LEFT = `SELECT (expire - ${NOW_MS})::float8 AS ms FROM rate_limits WHERE key = $1`

type Options = {
  pool: Pool
  /** How many mails an hour all nodes send together. */
  most: number
  /** Called for the first urgent mail of an hour that is over the limit. */
  onTripped: () => void
}

/**
 * Makes the function that counts a mail. It returns 0, or the milliseconds to wait where the hour's mails are used up. The last
 * quarter of them is kept for urgent ones, so that no flood of notices keeps people from signing in.
 */
export function limitMailsPerHour({ pool, most, onTripped }: Options) {
  const mostOfOthers = Math.ceil(most * (1 - URGENT_SHARE))

  return async (isUrgent: boolean): Promise<number> => {
    // The first urgent one over the limit is counted too, and so is the only one that trips it.
    const counted = await pool.query(COUNT, [KEY, isUrgent ? most + 1 : mostOfOthers])
    const points: number | undefined = counted.rows[0]?.points
    if (points !== undefined && points <= most) return 0
    if (points !== undefined) onTripped()
    const { rows } = await pool.query(LEFT, [KEY])
    return Math.max(1, rows[0]?.ms ?? 0)
  }
}
