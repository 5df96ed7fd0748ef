import { sql } from 'kysely'
import type { Queryable } from '../../kernel/db/database.ts'

/** Inserts posts on the wall without the API, and a reply after each tenth. */
export async function seedWall(db: Queryable, ownerId: string, count: number): Promise<void> {
  await sql`INSERT INTO posts (owner_id, text, replied_post_id, parent_post_id)
    SELECT ${ownerId}, 'Запись ' || n, parent, parent
    FROM generate_series(1, ${count}::int) n
    CROSS JOIN LATERAL (SELECT NULL::bigint AS parent UNION ALL SELECT 1 WHERE n % 10 = 0) p`.execute(
    db,
  )
}

/** The order of the likes is unrelated to the order of the posts. */
export async function seedLikes(db: Queryable, userId: string): Promise<void> {
  await sql`INSERT INTO likes (post_id, user_id)
    SELECT id, ${userId}::bigint FROM posts ORDER BY md5(id::text)`.execute(db)
}

/** The users have the e-mails fan1@ to fanN@example.org. */
export async function seedFans(db: Queryable, postId: string, count: number): Promise<void> {
  await sql`WITH fans AS (
      INSERT INTO users (username, email, email_key)
      SELECT 'fan_' || n, 'fan' || n || '@example.org', 'fan' || n || '@example.org'
      FROM generate_series(1, ${count}::int) n RETURNING id
    )
    INSERT INTO likes (post_id, user_id) SELECT ${postId}::bigint, id FROM fans`.execute(db)
}
