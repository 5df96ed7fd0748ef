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
  /** Compares every counter of this kind with its rows, in one snapshot. */
  check: RawBuilder<unknown>
  /** Locks the row of one counter, so that changes of its rows wait. */
  lock: (id: string) => RawBuilder<unknown>
  set: (id: string) => RawBuilder<unknown>
}

const lockPost = (id: string) => sql`SELECT FROM posts WHERE id = ${id} FOR UPDATE`

function countOfOwner(column: 'posts' | 'replies', condition: string): Counter {
  const [kept, isCounted] = [sql.ref(column), sql.raw(condition)]
  return {
    check: sql`SELECT coalesce(t.user_id, c.owner_id)::text AS id,
        coalesce(t.${kept}, 0)::float8 AS kept, coalesce(c.rows, 0)::float8 AS rows
      FROM owner_totals t FULL JOIN (
        SELECT owner_id, count(*) AS rows FROM visible_posts WHERE ${isCounted} GROUP BY owner_id
      ) c ON c.owner_id = t.user_id`,
    lock: (id) => sql`INSERT INTO owner_totals AS t (user_id) VALUES (${id})
        ON CONFLICT (user_id) DO UPDATE SET posts = t.posts`,
    set: (id) => sql`UPDATE owner_totals SET ${kept} = (
        SELECT count(*) FROM visible_posts WHERE owner_id = ${id} AND ${isCounted}) WHERE user_id = ${id}`,
  }
}

const COUNTERS: Record<string, Counter> = {
  wall: {
    check: sql`SELECT 'all' AS id,
        (SELECT coalesce(sum(posts), 0) FROM wall_totals)::float8 AS kept,
        (SELECT count(*) FROM visible_posts WHERE replied_post_id IS NULL)::float8 AS rows`,
    lock: () => sql`SELECT FROM wall_totals ORDER BY slot FOR UPDATE`,
    set: () => sql`UPDATE wall_totals SET posts = CASE slot
        WHEN 0 THEN (SELECT count(*) FROM visible_posts WHERE replied_post_id IS NULL) ELSE 0 END`,
  },
  'owner posts': countOfOwner('posts', 'replied_post_id IS NULL'),
  'owner replies': countOfOwner('replies', 'replied_post_id IS NOT NULL'),
  'user likes': {
    check: sql`SELECT coalesce(t.user_id, c.user_id)::text AS id,
        coalesce(t.likes, 0)::float8 AS kept, coalesce(c.rows, 0)::float8 AS rows
      FROM like_totals t FULL JOIN (SELECT user_id, count(*) AS rows FROM likes WHERE NOT post_hidden GROUP BY user_id) c
      ON c.user_id = t.user_id`,
    lock: (id) => sql`INSERT INTO like_totals AS t (user_id, likes) VALUES (${id}, 0)
        ON CONFLICT (user_id) DO UPDATE SET likes = t.likes`,
    set: (id) => sql`UPDATE like_totals SET likes = (
        SELECT count(*) FROM likes WHERE user_id = ${id} AND NOT post_hidden)
        WHERE user_id = ${id}`,
  },
  'post likes': {
    check: sql`SELECT p.id::text AS id,
        p.likes_count::float8 AS kept, coalesce(c.rows, 0)::float8 AS rows
      FROM posts p LEFT JOIN (SELECT post_id, count(*) AS rows FROM likes WHERE NOT user_left GROUP BY post_id) c
      ON c.post_id = p.id`,
    lock: lockPost,
    set: (id) => sql`UPDATE posts SET likes_count = (
        SELECT count(*) FROM likes WHERE post_id = ${id} AND NOT user_left)
        WHERE id = ${id}`,
  },
  'post replies': {
    check: sql`SELECT p.id::text AS id,
        p.replies_count::float8 AS kept, coalesce(c.rows, 0)::float8 AS rows
      FROM posts p LEFT JOIN (
        SELECT replied_post_id, count(*) AS rows FROM visible_posts
        WHERE replied_post_id IS NOT NULL GROUP BY replied_post_id
      ) c ON c.replied_post_id = p.id`,
    lock: lockPost,
    set: (id) => sql`UPDATE posts SET replies_count = (
        SELECT count(*) FROM visible_posts WHERE replied_post_id = ${id})
        WHERE id = ${id}`,
  },
}

/** A person would not read more differences. */
const DIFFERENCES_MAX = 100

/** Compares all counters with their rows. It reads whole tables, so it runs at night. */
export async function findCounterDifferences(db: Queryable): Promise<Difference[]> {
  const differences: Difference[] = []
  for (const [counter, { check }] of Object.entries(COUNTERS)) {
    const { rows } = await sql<Omit<Difference, 'counter'>>`
      SELECT * FROM (${check}) checked WHERE kept <> rows ORDER BY length(id), id LIMIT ${DIFFERENCES_MAX}`.execute(
      db,
    )
    differences.push(...rows.map((row) => ({ counter, ...row })))
  }
  return differences.slice(0, DIFFERENCES_MAX)
}

export async function fixCounter(tx: Queryable, { counter, id }: Difference): Promise<void> {
  const found = COUNTERS[counter]
  if (!found) throw new Error(`there is no counter named ${counter}`)
  await found.lock(id).execute(tx)
  await found.set(id).execute(tx)
}
