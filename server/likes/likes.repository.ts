import { type RawBuilder, sql } from 'kysely'
import { idArray, type Queryable } from '../db/database.ts'

/** The desired state of a user's like of a post. */
export type DesiredLike = { userId: string; isLiked: boolean }
/** A post's number of likes after a statement, and whether that has changed any like. */
type SetLikes = { likesCount: number; isChanged: boolean }

/**
 * Sets what some users, each of them once, think of a post, and counts it for the post and for each of them, in one
 * statement. Returns undefined when there is no such post. Rows are locked in this order: the post, likes, and totals by
 * ascending user ids, as all code does, so that no two statements deadlock. A total cannot be negative, not even in a row
 * that conflicts: `changed` says 0 for a like that is gone, by which the user's total becomes one less.
 */
export async function changeLikes(
  db: Queryable,
  postId: string,
  likes: DesiredLike[],
): Promise<SetLikes | undefined> {
  const userIds = likes.map(({ userId }) => userId)
  const areLiked = likes.map(({ isLiked }) => isLiked)
  const { rows } = await sql<SetLikes>`
    WITH post AS MATERIALIZED (
      SELECT id, likes_count FROM posts WHERE id = ${postId} FOR NO KEY UPDATE
    ), input AS (
      SELECT post.id AS post_id, i.* FROM post,
        unnest(${userIds}::bigint[], ${areLiked}::boolean[]) i (user_id, is_liked)
    ), added AS (
      INSERT INTO likes (post_id, user_id) SELECT post_id, user_id FROM input WHERE is_liked
      ON CONFLICT DO NOTHING RETURNING user_id
    ), gone AS (
      DELETE FROM likes l USING input
      WHERE NOT is_liked AND l.post_id = input.post_id AND l.user_id = input.user_id
      RETURNING l.user_id
    ), changed AS (
      SELECT user_id, 1 AS likes FROM added UNION ALL SELECT user_id, 0 FROM gone
    ), totals AS (
      INSERT INTO like_totals AS t (user_id, likes)
      SELECT user_id, likes FROM changed ORDER BY user_id
      ON CONFLICT (user_id) DO UPDATE SET likes = t.likes + CASE excluded.likes WHEN 1 THEN 1 ELSE -1 END
    ), counted AS (
      UPDATE posts p SET likes_count = p.likes_count + difference
      FROM post, (SELECT (SELECT count(*) FROM added) - (SELECT count(*) FROM gone) AS difference) change
      WHERE p.id = post.id AND difference <> 0 RETURNING p.likes_count
    )
    SELECT coalesce(counted.likes_count, post.likes_count) AS "likesCount",
      EXISTS (SELECT FROM changed) AS "isChanged"
    FROM post LEFT JOIN counted ON true`.execute(db)
  return rows[0]
}

type Removed = { removed: number; last: string | null }

/**
 * Removes some likes of a post and subtracts them from their users' totals. `archiving` is a statement that takes them from
 * the CTE `gone`, where they are to be kept. Returns how many there were, and the last user's id.
 */
async function removeLikes(
  db: Queryable,
  { postId, filter, archiving }: LikesToRemove,
): Promise<Removed> {
  const { rows } = await sql<Removed>`
    WITH gone AS (
      DELETE FROM likes WHERE post_id = ${postId} AND ${filter} RETURNING *
    ), ${archiving ?? sql``} locked AS (
      SELECT t.user_id FROM like_totals t JOIN gone USING (user_id) ORDER BY t.user_id FOR UPDATE OF t
    ), totals AS (
      UPDATE like_totals t SET likes = t.likes - 1 FROM locked WHERE t.user_id = locked.user_id
    )
    SELECT count(*)::int AS removed, max(user_id) AS last FROM gone`.execute(db)
  return rows[0] ?? { removed: 0, last: null }
}

type LikesToRemove = {
  postId: string
  filter: RawBuilder<unknown>
  archiving?: RawBuilder<unknown>
}

/** How many likes one short transaction moves or removes. */
export const LIKES_STEP = 5000
const STEP = sql.raw(String(LIKES_STEP))

/** A post that is gone, and whether its likes move into the archive instead of being removed. */
export type RemovedPost = { postId: string; keepsLikes: boolean }

/** SQL for a post's archived row while it is not being restored, locked against a restore. */
const archivedRow = (postId: string) =>
  sql`SELECT FROM archived_posts WHERE id = ${postId} AND NOT is_restoring FOR SHARE`
const ARCHIVING = sql`archived AS (
    INSERT INTO archived_likes (id, post_id, user_id, created_at)
    SELECT id, post_id, user_id, created_at FROM gone
    ON CONFLICT DO NOTHING
  ),`

/**
 * Removes the next likes of a post that is gone, those of users after `afterUserId`, or moves them into the archive. Returns
 * the last of these users, or null when there was none, or when the post is being restored.
 */
export async function removeNextLikes(
  db: Queryable,
  { postId, keepsLikes }: RemovedPost,
  afterUserId: string,
): Promise<string | null> {
  const next = sql`SELECT user_id FROM likes WHERE post_id = ${postId} AND user_id > ${afterUserId}
    ORDER BY user_id LIMIT ${STEP}`
  const filter = sql`user_id > ${afterUserId} AND user_id <= (SELECT max(user_id) FROM (${next}) step)`
  if (!keepsLikes) return (await removeLikes(db, { postId, filter })).last
  const isArchived = sql`EXISTS (WITH archive AS MATERIALIZED (${archivedRow(postId)}) SELECT FROM archive)`
  const step = { postId, filter: sql`${isArchived} AND ${filter}`, archiving: ARCHIVING }
  return (await removeLikes(db, step)).last
}

/**
 * The posts that are gone and may still have likes. Those of a post that was archived in the last 15 s stay for now, in case
 * of an undo.
 */
export async function selectRemovedPosts(db: Queryable): Promise<RemovedPost[]> {
  const { rows } = await sql<RemovedPost>`
    SELECT post_id AS "postId", keeps_likes AND a.id IS NOT NULL AS "keepsLikes"
    FROM removed_posts LEFT JOIN archived_posts a ON a.id = post_id
    WHERE (NOT keeps_likes OR removed_at < now() - interval '15 seconds')
      AND a.is_restoring IS NOT TRUE
    ORDER BY post_id`.execute(db)
  return rows
}

/** Ends the removal of a post's likes, unless it still has some or is being restored. Nobody can add any. */
export async function deleteRemovedPost(
  db: Queryable,
  { postId, keepsLikes }: RemovedPost,
): Promise<void> {
  const archived = keepsLikes ? archivedRow(postId) : sql`SELECT`
  await sql`WITH archive AS MATERIALIZED (${archived})
    DELETE FROM removed_posts r WHERE post_id = ${postId} AND EXISTS (SELECT FROM archive)
    AND NOT EXISTS (SELECT FROM likes l WHERE l.post_id = r.post_id)`.execute(db)
}

/**
 * Moves the next likes of an archived post back, which its caller has locked, and adds them to their users' totals. Returns
 * how many there were.
 */
export async function restoreNextLikes(tx: Queryable, postId: string): Promise<number> {
  const { rows } = await sql<{ restored: number }>`
    WITH back AS (
      DELETE FROM archived_likes WHERE post_id = ${postId} AND user_id IN (
        SELECT user_id FROM archived_likes WHERE post_id = ${postId} ORDER BY user_id LIMIT ${STEP}
      ) RETURNING *
    ), restored AS (
      INSERT INTO likes (id, post_id, user_id, created_at) OVERRIDING SYSTEM VALUE
      SELECT id, post_id, user_id, created_at FROM back
    ), totals AS (
      INSERT INTO like_totals AS t (user_id, likes) SELECT user_id, 1 FROM back ORDER BY user_id
      ON CONFLICT (user_id) DO UPDATE SET likes = t.likes + 1
    )
    SELECT count(*)::int AS restored FROM back`.execute(tx)
  return rows[0]?.restored ?? 0
}

/** Deletes the next archived likes of a post for good. Returns how many there were. */
export async function deleteArchivedLikes(db: Queryable, postId: string): Promise<number> {
  const { numAffectedRows = 0n } = await sql`DELETE FROM archived_likes WHERE post_id = ${postId}
    AND user_id IN (
      SELECT user_id FROM archived_likes WHERE post_id = ${postId} ORDER BY user_id LIMIT ${STEP}
    )`.execute(db)
  return Number(numAffectedRows)
}

export type LikesQuestion = { userId: string; postIds: string[] }

/** Returns for each question, in order, which of its posts its user likes. */
export async function selectLiked(
  db: Queryable,
  questions: LikesQuestion[],
): Promise<Set<string>[]> {
  const userIds = questions.flatMap(({ userId, postIds }) => postIds.map(() => userId))
  const postIds = questions.flatMap((question) => question.postIds)
  const { rows } = await sql<{ user_id: string; post_id: string }>`
    SELECT user_id, post_id FROM likes
    JOIN unnest(${idArray(postIds)}::bigint[], ${idArray(userIds)}::bigint[]) AS asked (post_id, user_id)
    USING (post_id, user_id)`.execute(db)
  const liked = Map.groupBy(rows, (row) => row.user_id)
  return questions.map(({ userId }) => new Set(liked.get(userId)?.map((row) => row.post_id)))
}
