import { randomInt } from 'node:crypto'
import { type RawBuilder, sql } from 'kysely'

/** The wall's total is spread over this many rows (migration 001), so that publications seldom wait for each other. */
const WALL_SLOTS = 16

/** The statement that adds the column `posts` of the one row of `counted` to the wall's total, or subtracts it. */
export function changeWallTotal(counted: RawBuilder<unknown>, sign: '+' | '-') {
  return sql`UPDATE wall_totals t SET posts = t.posts ${sql.raw(sign)} counted.posts
    FROM ${counted} counted WHERE t.slot = ${randomInt(WALL_SLOTS)} AND counted.posts > 0`
}

/** How many rows of a CTE are posts of the wall and no replies. */
export function countOnWall(cte: string) {
  return sql`(SELECT count(*) AS posts FROM ${sql.ref(cte)} WHERE replied_post_id IS NULL)`
}
