import { sql } from 'kysely'
import { idArray, type Queryable } from '../db/database.ts'
import { KEPT_COLUMNS } from './archive.repository.ts'
import { lockMoves, lockPublished, lockReplied } from './post-locks.ts'
import { changeWallTotal } from './wall-total.ts'

/** How many posts one short transaction moves. */
const STEP = sql.raw('500')

/** Locks the newest posts and replies of a user, a few hundred, and the posts they answer. Returns the ids of the user's own. */
export async function lockOwnerPosts(tx: Queryable, ownerId: string): Promise<string[]> {
  const newest = (isReply: boolean) => sql`(SELECT id FROM posts
    WHERE owner_id = ${ownerId}::bigint AND replied_post_id IS ${sql.raw(isReply ? 'NOT NULL' : 'NULL')}
    ORDER BY id DESC LIMIT ${STEP})`
  const { rows } = await sql<{ id: string }>`
    SELECT id FROM (${newest(false)} UNION ALL ${newest(true)}) own
    ORDER BY id DESC LIMIT ${STEP}`.execute(tx)
  const ids = rows.map(({ id }) => id)
  await lockMoves(tx, ids)
  return [...(await lockPublished(tx, ids)).keys()]
}

/**
 * Moves a user's locked posts into the archive, where they stay until the account returns or is erased, and subtracts them
 * from every count. Likes that have not moved before leave all lists and totals with their posts, and follow in steps of
 * their own, without the pause that other removals make for an undo.
 */
export async function archiveOwnerPosts(
  tx: Queryable,
  { ownerId, ids }: { ownerId: string; ids: string[] },
): Promise<void> {
  const own = sql`${idArray(ids)}::bigint[]`
  await sql`
    WITH gone AS (
      DELETE FROM posts WHERE id = ANY(${own}) AND owner_id = ${ownerId} RETURNING *
    ), counted AS (
      SELECT count(*) FILTER (WHERE replied_post_id IS NULL) AS posts,
        count(*) FILTER (WHERE replied_post_id IS NOT NULL) AS replies FROM gone
    ), kept AS (
      INSERT INTO archived_posts (${KEPT_COLUMNS}, likes_count, replies_count, why, archived_by, until)
      SELECT ${KEPT_COLUMNS}, likes_count, replies_count, 'left', 'vslukh', 'infinity' FROM gone
    ), replied AS (
      UPDATE posts p SET replies_count = p.replies_count - answers.number FROM (
        SELECT replied_post_id, count(*)::int AS number FROM gone GROUP BY replied_post_id
      ) answers
      WHERE p.id = answers.replied_post_id AND p.id <> ALL(${own})
    ), owner AS (
      UPDATE owner_totals t SET posts = t.posts - counted.posts, replies = t.replies - counted.replies
      FROM counted WHERE t.user_id = ${ownerId}
    ), wall AS (
      ${changeWallTotal(sql`counted`, '-')}
    )
    INSERT INTO removed_posts (post_id, keeps_likes, removed_at)
    SELECT id, true, '-infinity' FROM gone
    WHERE EXISTS (SELECT FROM likes WHERE post_id = gone.id)`.execute(tx)
}

/** Posts that move in one step: all of them, and those whose likes move with them. */
type Movable = { ids: string[]; withLikes: string[] }

/**
 * Of a user's locked posts returns the newest, as many as have a few thousand likes that move with them. A post with more
 * likes leaves them to steps of their own.
 */
export async function selectMovable(tx: Queryable, lockedIds: string[]): Promise<Movable> {
  const { rows } = await sql<{ id: string; moves_likes: boolean }>`
    SELECT id, moves_likes FROM (
      SELECT id, moves_likes, sum(moving) OVER (ORDER BY id DESC) - moving AS before
      FROM posts, LATERAL (SELECT likes_count <= ${LIKES_MAX} AS moves_likes) counted_likes,
        LATERAL (SELECT CASE WHEN moves_likes THEN likes_count ELSE 0 END AS moving) light
      WHERE id = ANY(${idArray(lockedIds)}::bigint[])
    ) counted WHERE before < ${LIKES_MAX}`.execute(tx)
  const withLikes = rows.filter(({ moves_likes }) => moves_likes)
  return { ids: rows.map(({ id }) => id), withLikes: withLikes.map(({ id }) => id) }
}

/** The number of likes that move in one short transaction. A post with more moves alone, and its likes in steps of their own. */
const LIKES_MAX = sql.raw('5000')

/**
 * Locks some of the posts that a user had when leaving: a few hundred, with a few thousand likes at most, and the posts they
 * answer. Returns the ids of the user's own.
 */
export async function lockLeftPosts(tx: Queryable, ownerId: string): Promise<string[]> {
  const left = sql`owner_id = ${ownerId}::bigint AND why = 'left'`
  const { rows } = await sql<{ id: string }>`
    SELECT id FROM (
      SELECT id, sum(likes_count) OVER (ORDER BY id DESC) - likes_count AS before
      FROM archived_posts WHERE ${left} AND likes_count <= ${LIKES_MAX}
      ORDER BY id DESC LIMIT ${STEP}
    ) left_posts WHERE before < ${LIKES_MAX}`.execute(tx)
  const ids = rows.map(({ id }) => id)
  await lockMoves(tx, ids)
  await lockReplied(tx, ids)
  const locked = await sql<{ id: string }>`SELECT id FROM archived_posts
    WHERE id = ANY(${idArray(ids)}::bigint[]) AND ${left} ORDER BY id FOR UPDATE`.execute(tx)
  return locked.rows.map(({ id }) => id)
}

/** One of the posts that a user had when leaving and that is not on its way back; undefined without one. */
export async function findLeftPost(db: Queryable, ownerId: string): Promise<string | undefined> {
  const row = await db
    .selectFrom('archived_posts')
    .select('id')
    .where('owner_id', '=', ownerId)
    .where('why', '=', 'left')
    .where('is_restoring', '=', false)
    .limit(1)
    .executeTakeFirst()
  return row?.id
}

/** Brings locked posts back from the archive under their ids, and adds them to every count. Their likes are back already. */
export async function restoreOwnerPosts(
  tx: Queryable,
  { ownerId, ids }: { ownerId: string; ids: string[] },
): Promise<void> {
  const own = sql`${idArray(ids)}::bigint[]`
  await sql`
    WITH back AS (
      DELETE FROM archived_posts WHERE id = ANY(${own}) RETURNING *
    ), counted AS (
      SELECT count(*) FILTER (WHERE replied_post_id IS NULL) AS posts,
        count(*) FILTER (WHERE replied_post_id IS NOT NULL) AS replies FROM back
    ), shown AS (
      INSERT INTO posts (${KEPT_COLUMNS}, likes_count, replies_count) OVERRIDING SYSTEM VALUE
      SELECT ${KEPT_COLUMNS},
        (SELECT count(*) FROM likes l WHERE l.post_id = back.id), 0 FROM back
    ), whole AS (
      DELETE FROM removed_posts WHERE post_id = ANY(${own})
    ), owner AS (
      INSERT INTO owner_totals AS t (user_id, posts, replies)
      SELECT ${ownerId}::bigint, posts, replies FROM counted
      ON CONFLICT (user_id) DO UPDATE
      SET posts = t.posts + excluded.posts, replies = t.replies + excluded.replies
    )
    ${changeWallTotal(sql`counted`, '+')}`.execute(tx)
  // Only now are replies counted that came back together with what they answer. All replies of a post that was there before
  // would be too many to count in each step.
  await sql`
    UPDATE posts p SET replies_count = p.replies_count + answers.number FROM (
      SELECT replied_post_id, count(*) AS number FROM posts
      WHERE replied_post_id = ANY(${own}) GROUP BY 1
      UNION ALL
      SELECT replied_post_id, count(*) FROM posts
      WHERE id = ANY(${own}) AND replied_post_id <> ALL(${own}) GROUP BY 1
    ) answers WHERE p.id = answers.replied_post_id`.execute(tx)
}
