import { sql } from 'kysely'
import { openDatabase } from '../server/db/database.ts'
import { recount } from '../server/testing/seed.ts'

/** The size of a data set, derived from the number of its posts (replies included). */
export type DataSet = { posts: number; users: number; likes: number }

export function dataSetOf(posts: number): DataSet {
  return { posts, users: Math.max(10, Math.ceil(posts / 20)), likes: posts * 2 }
}

/** Every fourth row is a reply, to one of the posts before it. */
const REPLY_EVERY = 4
/** Millions of rows take minutes. */
const FOR_LONG_STATEMENTS = { connections: 1, statementTimeoutMs: 3_600_000 }
/** The wall grows by a post every so many seconds. */
const SECONDS_APART = 20

/**
 * Fills an empty migrated database by SQL. No account is a newcomer's. Lengths lean to the short: half the posts are under 120 characters, some fill
 * all 500. A tenth of the users write most posts, and new posts get most likes. Counters are set from the rows.
 */
export async function seed(databaseUrl: string, { posts, users, likes }: DataSet): Promise<void> {
  const { db, close } = openDatabase(databaseUrl, () => {}, FOR_LONG_STATEMENTS)
  const run = (statement: string) => sql.raw(statement).execute(db)
  const words =
    'стена слышит всё что говорят вслух а потом отвечает тихо и долго как старый друг у окна где идёт снег'
  try {
    await run(
      `INSERT INTO users (username, email, email_key, created_at)
       SELECT 'user_' || lpad(n::text, 7, '0'), 'u' || n || '@example.org', 'u' || n || '@example.org',
         now() - interval '30 days'
       FROM generate_series(1, ${users}) n`,
    )
    await run(
      `WITH word AS (SELECT string_to_array('${words}', ' ') AS list), n AS (
         SELECT n, random() AS skew, power(random(), 3) AS size FROM generate_series(1, ${posts}) n
       )
       INSERT INTO posts (owner_id, text, created_at, replied_post_id, parent_post_id)
       SELECT
         1 + floor(power(n.skew, 3) * ${users})::bigint,
         left((SELECT string_agg(word.list[1 + (n.n * 7 + i * 13) % array_length(word.list, 1)], ' ')
           FROM word, generate_series(1, 6 + (n.size * 84)::int) i), 500),
         now() - (${posts} - n.n) * interval '${SECONDS_APART} seconds',
         CASE WHEN n.n % ${REPLY_EVERY} = 0 THEN n.n - 1 - floor(power(n.skew, 4) * (n.n - 1))::bigint END,
         CASE WHEN n.n % ${REPLY_EVERY} = 0 THEN n.n - 1 - floor(power(n.skew, 4) * (n.n - 1))::bigint END
       FROM n ORDER BY n.n`,
    )
    await run(
      `INSERT INTO likes (post_id, user_id)
       SELECT ${posts} - floor(power(random(), 3) * ${posts})::bigint, 1 + floor(random() * ${users})::bigint
       FROM generate_series(1, ${likes}) ON CONFLICT DO NOTHING`,
    )
    await recount(db)
    await run('VACUUM (ANALYZE)')
    await run('CHECKPOINT').catch(() => {})
  } finally {
    await close()
  }
}
