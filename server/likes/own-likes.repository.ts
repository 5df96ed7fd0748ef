import { sql } from 'kysely'
import { idArray, type Queryable } from '../db/database.ts'

/** How many likes one short transaction moves. */
const STEP = sql.raw('500')

/**
 * Moves some hundreds of the likes that a user gave into the archive, and subtracts them from the posts and from the user's
 * total. Returns how many were moved.
 */
export async function archiveOwnLikes(tx: Queryable, userId: string): Promise<number> {
  const { rows } = await sql<{ post_id: string }>`
    SELECT post_id FROM likes WHERE user_id = ${userId}::bigint ORDER BY id LIMIT ${STEP}`.execute(
    tx,
  )
  const postIds = sql`${idArray(rows.map(({ post_id }) => post_id))}::bigint[]`
  await sql`SELECT id FROM posts WHERE id = ANY(${postIds}) ORDER BY id FOR NO KEY UPDATE`.execute(
    tx,
  )
  await sql`
    WITH gone AS (
      DELETE FROM likes WHERE user_id = ${userId} AND post_id = ANY(${postIds}) RETURNING *
    ), kept AS (
      INSERT INTO archived_likes (id, post_id, user_id, created_at)
      SELECT id, post_id, user_id, created_at FROM gone
      ON CONFLICT DO NOTHING
    ), counted AS (
      UPDATE posts p SET likes_count = p.likes_count - 1 FROM gone WHERE p.id = gone.post_id
    )
    UPDATE like_totals SET likes = likes - (SELECT count(*) FROM gone) WHERE user_id = ${userId}`.execute(
    tx,
  )
  return rows.length
}

/**
 * Brings back some hundreds of the likes that a user gave, from those after the post `afterPostId`: likes of posts that are
 * archived themselves stay there, and come back with them. Returns the last post, or null when there was no further like.
 */
export async function restoreOwnLikes(
  tx: Queryable,
  { userId, afterPostId }: { userId: string; afterPostId: string },
): Promise<string | null> {
  const { rows } = await sql<{ post_id: string }>`
    SELECT post_id FROM archived_likes
    WHERE user_id = ${userId}::bigint AND post_id > ${afterPostId}::bigint
    ORDER BY post_id LIMIT ${STEP}`.execute(tx)
  const last = rows.at(-1)?.post_id ?? null
  const postIds = sql`${idArray(rows.map(({ post_id }) => post_id))}::bigint[]`
  const locked = await sql<{ id: string }>`
    SELECT id FROM posts WHERE id = ANY(${postIds}) ORDER BY id FOR NO KEY UPDATE`.execute(tx)
  const there = sql`${idArray(locked.rows.map(({ id }) => id))}::bigint[]`
  await sql`
    WITH back AS (
      DELETE FROM archived_likes WHERE user_id = ${userId} AND post_id = ANY(${there}) RETURNING *
    ), liked AS (
      INSERT INTO likes (id, post_id, user_id, created_at) OVERRIDING SYSTEM VALUE
      SELECT id, post_id, user_id, created_at FROM back
      ON CONFLICT DO NOTHING RETURNING post_id
    ), counted AS (
      UPDATE posts p SET likes_count = p.likes_count + 1 FROM liked WHERE p.id = liked.post_id
    )
    INSERT INTO like_totals AS t (user_id, likes) SELECT ${userId}::bigint, count(*) FROM liked
    ON CONFLICT (user_id) DO UPDATE SET likes = t.likes + excluded.likes`.execute(tx)
  return last
}

/** Brings back the likes of archived posts, a few thousand at most, before the posts themselves. */
export async function restoreLikesOfPosts(tx: Queryable, ids: string[]): Promise<void> {
  await sql`
    WITH back AS (
      DELETE FROM archived_likes WHERE post_id = ANY(${idArray(ids)}::bigint[]) RETURNING *
    ), liked AS (
      INSERT INTO likes (id, post_id, user_id, created_at) OVERRIDING SYSTEM VALUE
      SELECT id, post_id, user_id, created_at FROM back
    )
    INSERT INTO like_totals AS t (user_id, likes)
    SELECT user_id, count(*) FROM back GROUP BY user_id ORDER BY user_id
    ON CONFLICT (user_id) DO UPDATE SET likes = t.likes + excluded.likes`.execute(tx)
}

/** Moves the likes of locked posts into the archive, a few thousand at most, before the posts themselves. */
export async function archiveLikesOfPosts(tx: Queryable, ids: string[]): Promise<void> {
  await sql`
    WITH gone AS (
      DELETE FROM likes WHERE post_id = ANY(${idArray(ids)}::bigint[]) RETURNING *
    ), kept AS (
      INSERT INTO archived_likes (id, post_id, user_id, created_at)
      SELECT id, post_id, user_id, created_at FROM gone
      ON CONFLICT DO NOTHING
    ), lost AS (
      SELECT user_id, count(*) AS likes FROM gone GROUP BY user_id
    ), locked AS (
      SELECT t.user_id, lost.likes FROM like_totals t JOIN lost USING (user_id)
      ORDER BY t.user_id FOR UPDATE OF t
    )
    UPDATE like_totals t SET likes = t.likes - locked.likes
    FROM locked WHERE t.user_id = locked.user_id`.execute(tx)
}
