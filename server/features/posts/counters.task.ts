import type { FastifyBaseLogger } from 'fastify'
import { sql } from 'kysely'
import type { Db, Queryable } from '../../kernel/db/database.ts'
import type { Jobs } from '../../kernel/queue/queue.ts'

type Options = {
  log: FastifyBaseLogger
  storeResult: (differences: number) => Promise<void>
}

export const counterJobs = (db: Db, { log, storeResult }: Options): Jobs => ({
  'check-counters': {
    cron: '40 2 * * *',
    lateByMs: 86_400_000,
    async run({ stopping }) {
      const differences = await Promise.race([findCounterDifferences(db), stopping])
      for (const difference of differences) log.error(difference, 'counter differs from its rows')
      await storeResult(differences.length)
      log.info({ differences: differences.length }, 'counters checked')
    },
  },
})

export type Difference = { counter: string; id: string; kept: number; rows: number }

/** `rows` is the SQL after FROM for the counted rows, `by` their column with the counter's key. */
type Counter = [table: 'owner_totals' | 'posts', column: string, by: string, rows: string]

const ON_WALL = 'visible_posts WHERE replied_post_id IS NULL'
const REPLIES = 'visible_posts WHERE replied_post_id IS NOT NULL'
const COUNTERS: Record<string, Counter> = {
  'owner posts': ['owner_totals', 'posts', 'owner_id', ON_WALL],
  'owner replies': ['owner_totals', 'replies', 'owner_id', REPLIES],
  'post likes': ['posts', 'likes_count', 'post_id', 'likes WHERE NOT user_left'],
  'post replies': ['posts', 'replies_count', 'replied_post_id', REPLIES],
}

const WALL_POSTS = `(SELECT count(*) FROM ${ON_WALL})`

const keyOf = (table: Counter[0]) => (table === 'posts' ? 'id' : 'user_id')

function checkOf([table, column, by, rows]: Counter): string {
  // Replies to a purged post have no counter; a missing row of totals counts as 0.
  const join = table === 'posts' ? 'LEFT JOIN' : 'FULL JOIN'
  return `SELECT coalesce(t.${keyOf(table)}, c.id)::text AS id,
      coalesce(t.${column}, 0)::float8 AS kept, coalesce(c.rows, 0)::float8 AS rows
    FROM ${table} t
    ${join} (SELECT ${by} AS id, count(*) AS rows FROM ${rows} GROUP BY 1) c ON c.id = t.${keyOf(table)}`
}

const CHECKS = {
  wall: `SELECT 'all' AS id, (SELECT coalesce(sum(posts), 0) FROM wall_totals)::float8 AS kept,
    ${WALL_POSTS}::float8 AS rows`,
  ...Object.fromEntries(Object.entries(COUNTERS).map(([name, it]) => [name, checkOf(it)])),
}

const DIFFERENCES_MAX = 100

/** A check stops looking at a hundred differences, so more may exist than it has found. */
export function formatDifferences(found: number): string {
  return found < DIFFERENCES_MAX ? `${found}` : `не меньше ${DIFFERENCES_MAX}`
}

/**
 * Compares all counters with their rows. This reads whole tables, so it runs at night. `onCheck` is
 * called before each kind of counter with how many kinds are done.
 */
export async function findCounterDifferences(
  db: Queryable,
  onCheck: (done: number, total: number) => void = () => {},
): Promise<Difference[]> {
  const differences: Difference[] = []
  const checks = Object.entries(CHECKS)
  for (const [done, [counter, check]] of checks.entries()) {
    onCheck(done, checks.length)
    const { rows } = await sql<Omit<Difference, 'counter'>>`
      SELECT * FROM (${sql.raw(check)}) checked WHERE kept <> rows ORDER BY length(id), id LIMIT ${DIFFERENCES_MAX}`.execute(
      db,
    )
    differences.push(...rows.map((row) => ({ counter, ...row })))
  }
  return differences.slice(0, DIFFERENCES_MAX)
}

/** The order in which the triggers lock counters, those of a table by ascending id. */
const LOCK_ORDER = ['posts', 'wall_totals', 'owner_totals']

const tableOf = ({ counter }: Difference) => COUNTERS[counter]?.[0] ?? 'wall_totals'

/** Sorts differences so that `fixCounter` locks counters in the same order as the triggers. */
export function inLockOrder(differences: Difference[]): Difference[] {
  const place = (difference: Difference) => LOCK_ORDER.indexOf(tableOf(difference))
  return differences.toSorted((a, b) => place(a) - place(b) || Number(a.id) - Number(b.id))
}

/**
 * Recounts a counter. It locks the counter's row first, so that changes of its rows wait, and before
 * an owner's row the wall, as a publication does.
 */
export async function fixCounter(tx: Queryable, difference: Difference): Promise<void> {
  const { counter, id } = difference
  if (tableOf(difference) !== 'posts') {
    await sql`SELECT FROM wall_totals ORDER BY slot FOR UPDATE`.execute(tx)
  }
  if (counter === 'wall') {
    await sql`UPDATE wall_totals
      SET posts = CASE slot WHEN 0 THEN ${sql.raw(WALL_POSTS)} ELSE 0 END`.execute(tx)
    return
  }
  const found = COUNTERS[counter]
  if (!found) throw new Error(`there is no counter named ${counter}`)
  const [table, column, by, rows] = found
  const lock =
    table === 'posts'
      ? sql`SELECT FROM posts WHERE id = ${id} FOR UPDATE`
      : sql`INSERT INTO ${sql.raw(`${table} AS t (user_id, ${column})`)} VALUES (${id}, 0)
          ON CONFLICT (user_id) DO UPDATE SET ${sql.raw(`${column} = t.${column}`)}`
  await lock.execute(tx)
  await sql`UPDATE ${sql.raw(`${table} SET ${column}`)} =
      (SELECT count(*) FROM ${sql.raw(`${rows} AND ${by}`)} = ${id})
    WHERE ${sql.raw(keyOf(table))} = ${id}`.execute(tx)
}
