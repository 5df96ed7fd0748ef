import type { FastifyBaseLogger } from 'fastify'
import { type RawBuilder, sql } from 'kysely'
import type { Db, Queryable } from '../../kernel/db/database.ts'
import type { Jobs } from '../../kernel/queue/queue.ts'

type Options = {
  log: Pick<FastifyBaseLogger, 'error' | 'info'>
  /** Stores how many counters differ. */
  storeResult: (differences: number) => Promise<void>
}

/** The nightly check of the counters, on the pool of jobs. */
export const counterJobs = (db: Db, { log, storeResult }: Options): Jobs => ({
  'check-counters': {
    everyMinutes: 24 * 60,
    atMinute: 2 * 60 + 40,
    async run(_, { stopping }) {
      const differences = await Promise.race([findCounterDifferences(db), stopping])
      for (const difference of differences) log.error(difference, 'counter differs from its rows')
      await storeResult(differences.length)
      log.info({ differences: differences.length }, 'counters checked')
    },
  },
})

export type Difference = { counter: string; id: string; kept: number; rows: number }

type Counter = {
  table: 'owner_totals' | 'like_totals' | 'posts'
  column: string
  /** The column by which rows belong to a counter. */
  by: string
  /** SQL for the rows that it counts, from the table on. */
  rows: string
}

const ON_WALL = 'visible_posts WHERE replied_post_id IS NULL'
const REPLIES = 'visible_posts WHERE replied_post_id IS NOT NULL'
const COUNTERS: Record<string, Counter> = {
  'owner posts': { table: 'owner_totals', column: 'posts', by: 'owner_id', rows: ON_WALL },
  'owner replies': { table: 'owner_totals', column: 'replies', by: 'owner_id', rows: REPLIES },
  'user likes': {
    table: 'like_totals',
    column: 'likes',
    by: 'user_id',
    rows: 'likes WHERE NOT post_hidden',
  },
  'post likes': {
    table: 'posts',
    column: 'likes_count',
    by: 'post_id',
    rows: 'likes WHERE NOT user_left',
  },
  'post replies': {
    table: 'posts',
    column: 'replies_count',
    by: 'replied_post_id',
    rows: REPLIES,
  },
}

const WALL_POSTS = sql.raw(`SELECT count(*) FROM ${ON_WALL}`)

const keyOf = (table: Counter['table']) => sql.ref(table === 'posts' ? 'id' : 'user_id')

/** Compares every counter of one kind with its rows, in one snapshot. */
function checkOf({ table, column, by, rows }: Counter): RawBuilder<unknown> {
  // Replies to a purged post are counted nowhere; a total without a row is 0.
  const join = sql.raw(table === 'posts' ? 'LEFT JOIN' : 'FULL JOIN')
  const counted = sql`SELECT ${sql.ref(by)} AS id, count(*) AS rows FROM ${sql.raw(rows)} GROUP BY 1`
  return sql`SELECT coalesce(t.${keyOf(table)}, c.id)::text AS id,
      coalesce(t.${sql.ref(column)}, 0)::float8 AS kept, coalesce(c.rows, 0)::float8 AS rows
    FROM ${sql.table(table)} t ${join} (${counted}) c ON c.id = t.${keyOf(table)}`
}

const CHECKS = {
  wall: sql`SELECT 'all' AS id, (SELECT coalesce(sum(posts), 0) FROM wall_totals)::float8 AS kept,
    (${WALL_POSTS})::float8 AS rows`,
  ...Object.fromEntries(Object.entries(COUNTERS).map(([name, it]) => [name, checkOf(it)])),
}

/** A person would not read more differences. */
const DIFFERENCES_MAX = 100

/** Compares all counters with their rows. It reads whole tables, so it runs at night. */
export async function findCounterDifferences(db: Queryable): Promise<Difference[]> {
  const differences: Difference[] = []
  for (const [counter, check] of Object.entries(CHECKS)) {
    const { rows } = await sql<Omit<Difference, 'counter'>>`
      SELECT * FROM (${check}) checked WHERE kept <> rows ORDER BY length(id), id LIMIT ${DIFFERENCES_MAX}`.execute(
      db,
    )
    differences.push(...rows.map((row) => ({ counter, ...row })))
  }
  return differences.slice(0, DIFFERENCES_MAX)
}

/** Locks a counter's row first, so that changes of its rows wait. */
export async function fixCounter(tx: Queryable, { counter, id }: Difference): Promise<void> {
  if (counter === 'wall') {
    await sql`SELECT FROM wall_totals ORDER BY slot FOR UPDATE`.execute(tx)
    const set = sql`CASE slot WHEN 0 THEN (${WALL_POSTS}) ELSE 0 END`
    await sql`UPDATE wall_totals SET posts = ${set}`.execute(tx)
    return
  }
  const found = COUNTERS[counter]
  if (!found) throw new Error(`there is no counter named ${counter}`)
  const { rows, by } = found
  const [table, key, kept] = [sql.table(found.table), keyOf(found.table), sql.ref(found.column)]
  const count = sql`(SELECT count(*) FROM ${sql.raw(rows)} AND ${sql.ref(by)} = ${id})`
  const lock =
    found.table === 'posts'
      ? sql`SELECT FROM posts WHERE id = ${id} FOR UPDATE`
      : sql`INSERT INTO ${table} AS t (${key}, ${kept}) VALUES (${id}, 0)
          ON CONFLICT (${key}) DO UPDATE SET ${kept} = t.${kept}`
  await lock.execute(tx)
  await sql`UPDATE ${table} SET ${kept} = ${count} WHERE ${key} = ${id}`.execute(tx)
}
