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
  const restoreIndexes = await dropIndexes(db)
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
    SELECT * FROM (
      SELECT DISTINCT 1 + floor(${posts} * power(random(), 3))::bigint AS post, ${user} AS author
      FROM generate_series(1, ${likes}::int)
    ) made ORDER BY random()`.execute(db)
  await restoreIndexes()
  await sql`VACUUM ANALYZE`.execute(db)
}

/**
 * Drops the indexes of posts, but for those of its constraints, and all of likes: ten million posts
 * are filled in half the time. Returns a function that makes them again.
 */
async function dropIndexes(db: Db): Promise<() => Promise<void>> {
  const { rows } = await sql<{ drop: string; make: string }>`
    SELECT format('DROP INDEX %I', indexname) AS drop, indexdef AS make FROM pg_indexes
    WHERE tablename IN ('posts', 'likes') AND indexname NOT IN (SELECT conname FROM pg_constraint)
    UNION ALL
    SELECT format('ALTER TABLE likes DROP CONSTRAINT %I', conname),
      format('ALTER TABLE likes ADD CONSTRAINT %I %s', conname, pg_get_constraintdef(oid))
    FROM pg_constraint WHERE conrelid = 'likes'::regclass AND contype IN ('p', 'f')`.execute(db)
  for (const { drop } of rows) await sql.raw(drop).execute(db)
  return async () => {
    for (const { make } of rows) await sql.raw(make).execute(db)
  }
}
