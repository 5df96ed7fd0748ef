import { sql } from 'kysely'
import type { Queryable } from '../db/database.ts'

/** Inserts posts on the wall without the API, and a reply after each tenth. */
export async function seedWall(db: Queryable, ownerId: string, count: number): Promise<void> {
  await sql`INSERT INTO posts (owner_id, text, replied_post_id, parent_post_id)
    SELECT ${ownerId}, 'Запись ' || n, parent, parent
    FROM generate_series(1, ${count}::int) n
    CROSS JOIN LATERAL (SELECT NULL::bigint AS parent UNION ALL SELECT 1 WHERE n % 10 = 0) p`.execute(
    db,
  )
  await recount(db)
}

/** Lets a user like every post, in an order that is unrelated to the order of the posts. */
export async function seedLikes(db: Queryable, userId: string): Promise<void> {
  await sql`INSERT INTO likes (post_id, user_id)
    SELECT id, ${userId}::bigint FROM posts ORDER BY md5(id::text)`.execute(db)
  await recount(db)
}

/** Adds `count` users, with the e-mails fan1@ to fanN@example.org, who like a post. */
export async function seedFans(db: Queryable, postId: string, count: number): Promise<void> {
  await sql`WITH fans AS (
      INSERT INTO users (username, email, email_key)
      SELECT 'fan_' || n, 'fan' || n || '@example.org', 'fan' || n || '@example.org'
      FROM generate_series(1, ${count}::int) n RETURNING id
    )
    INSERT INTO likes (post_id, user_id) SELECT ${postId}::bigint, id FROM fans`.execute(db)
  await recount(db)
}

/** Sets every counter from the rows it counts, after rows were inserted without the API. */
export async function recount(db: Queryable): Promise<void> {
  for (const statement of RECOUNT) await sql.raw(statement).execute(db)
}

const RECOUNT = [
  `UPDATE wall_totals SET posts = CASE slot
    WHEN 0 THEN (SELECT count(*) FROM posts WHERE replied_post_id IS NULL) ELSE 0 END`,
  `INSERT INTO owner_totals (user_id, posts, replies)
    SELECT owner_id, count(*) FILTER (WHERE replied_post_id IS NULL), count(replied_post_id)
    FROM posts GROUP BY owner_id
    ON CONFLICT (user_id) DO UPDATE SET posts = excluded.posts, replies = excluded.replies`,
  `INSERT INTO like_totals (user_id, likes) SELECT user_id, count(*) FROM likes GROUP BY user_id
    ON CONFLICT (user_id) DO UPDATE SET likes = excluded.likes`,
  `UPDATE posts SET likes_count = counted FROM (
    SELECT post_id, count(*)::int AS counted FROM likes GROUP BY post_id) c WHERE id = c.post_id AND likes_count <> counted`,
  `UPDATE posts SET replies_count = counted FROM (
    SELECT replied_post_id AS parent, count(*)::int AS counted FROM posts
    WHERE replied_post_id IS NOT NULL GROUP BY 1) c WHERE id = c.parent AND replies_count <> counted`,
]
