import { sql } from 'kysely'
import { type Db, openDatabase } from '../../kernel/db/database.ts'

export type Size = { users: number; posts: number; likes: number }

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
  await sql`INSERT INTO users (username, email, email_key)
    SELECT 'big_' || n, 'big' || n || '@example.org', 'big' || n || '@example.org'
    FROM generate_series(1, ${users}::int) n`.execute(db)
  await sql`INSERT INTO posts (owner_id, text, created_at, replied_post_id, parent_post_id)
    SELECT owner, 'Запись ' || n, now() - (${posts} - n) * interval '1 second', replied, replied
    FROM (
      SELECT n, 1 + floor(${users} * power(random(), 4))::bigint AS owner,
        CASE WHEN n > 10 AND random() < 0.4 THEN 1 + floor((n - 1) * power(random(), 3))::bigint END
          AS replied
      FROM generate_series(1, ${posts}::int) n
    ) made ORDER BY n`.execute(db)
  await sql`INSERT INTO likes (post_id, user_id)
    SELECT 1 + floor(${posts} * power(random(), 3))::bigint,
      1 + floor(${users} * power(random(), 4))::bigint
    FROM generate_series(1, ${likes}::int) ON CONFLICT DO NOTHING`.execute(db)
  await sql`VACUUM ANALYZE`.execute(db)
}
