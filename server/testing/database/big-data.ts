import { sql } from 'kysely'
import { type Db, openDatabase } from '../../kernel/db/database.ts'

export type Size = { users: number; posts: number; likes: number }

/** What the limit of 300 a day lets a person like in a year. */
const LIKES_OF_ONE_MAX = 300 * 365

/**
 * Fills an empty database, skewed as real walls are: few users write and like most, and few posts
 * get most replies and likes. Two of five posts are replies. The rows are the same each time.
 */
export async function fillDatabase(databaseUrl: string, size: Size): Promise<void> {
  const { db, close } = openDatabase(databaseUrl, () => {}, LONG_STATEMENTS)
  await fill(db, size).finally(close)
}

/** One connection, so that its random seed applies to all statements. */
const LONG_STATEMENTS = { connections: 1, statementTimeoutMs: 3_600_000 }

async function fill(db: Db, { users, posts, likes }: Size): Promise<void> {
  await sql`SELECT setseed(0.5)`.execute(db)
  // The first user gets one of `ofMany` likes, and as large a share of the posts.
  const ofMany = Math.max(users ** (1 / 4), likes / LIKES_OF_ONE_MAX)
  const skew = Math.log(users) / Math.log(ofMany)
  const user = sql`1 + floor(${users} * power(random(), ${skew}::float8))::bigint`
  // Each of the updates that count would write its words anew.
  const { rows } = await sql<{ index: string }>`
    SELECT pg_get_indexdef('posts_search'::regclass) AS index`.execute(db)
  await sql`DROP INDEX posts_search`.execute(db)
  await sql`INSERT INTO users (username, email, email_key)
    SELECT 'big_' || n, 'big' || n || '@example.org', 'big' || n || '@example.org'
    FROM generate_series(1, ${users}::int) n`.execute(db)
  await sql`INSERT INTO posts (owner_id, text, created_at, replied_post_id, parent_post_id)
    SELECT owner, 'Запись ' || n, now() - (${posts} - n) * interval '1 second', replied, replied
    FROM (
      SELECT n, ${user} AS owner,
        CASE WHEN n > 10 AND random() < 0.4 THEN 1 + floor((n - 1) * power(random(), 3))::bigint END
          AS replied
      FROM generate_series(1, ${posts}::int) n
    ) made ORDER BY n`.execute(db)
  await sql`INSERT INTO likes (post_id, user_id)
    SELECT 1 + floor(${posts} * power(random(), 3))::bigint,
      ${user}
    FROM generate_series(1, ${likes}::int) ON CONFLICT DO NOTHING`.execute(db)
  await sql.raw(rows[0]?.index ?? '').execute(db)
  await sql`VACUUM ANALYZE`.execute(db)
}
