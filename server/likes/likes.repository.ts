import { type RawBuilder, sql } from 'kysely'
import { idArray, type Queryable } from '../db/database.ts'

/**
 * Locks the totals of users in the order of their ids, and adds those that are missing: a transaction that is about to change
 * them in more than one statement would otherwise lock them out of order.
 */
export async function lockTotals(tx: Queryable, userIds: string[]): Promise<void> {
  await sql`INSERT INTO like_totals AS t (user_id, likes)
    SELECT user_id, 0 FROM unnest(${userIds}::bigint[]) user_id ORDER BY user_id
    ON CONFLICT (user_id) DO UPDATE SET likes = t.likes`.execute(tx)
}

/**
 * Adds the likes of users who do not like a locked post yet, and counts them for each user. Returns how many were new. All
 * code locks totals in the order of user ids, so that two such statements cannot deadlock.
 */
export async function insertLikes(
  tx: Queryable,
  postId: string,
  userIds: string[],
): Promise<number> {
  const { rows } = await sql<{ added: number }>`
    WITH added AS (
      INSERT INTO likes (post_id, user_id)
      SELECT ${postId}::bigint, user_id FROM unnest(${userIds}::bigint[]) user_id
      ON CONFLICT DO NOTHING RETURNING user_id
    ), totals AS (
      INSERT INTO like_totals AS t (user_id, likes) SELECT user_id, 1 FROM added ORDER BY user_id
      ON CONFLICT (user_id) DO UPDATE SET likes = t.likes + 1
    )
    SELECT count(*)::int AS added FROM added`.execute(tx)
  return rows[0]?.added ?? 0
}

type Removed = { removed: number; last: string | null }

/** Removes some likes of a post and subtracts them from their users' totals. Returns how many, and the last user's id. */
async function removeLikes(
  db: Queryable,
  postId: string,
  filter: RawBuilder<unknown>,
): Promise<Removed> {
  const { rows } = await sql<Removed>`
    WITH gone AS (
      DELETE FROM likes WHERE post_id = ${postId} AND ${filter} RETURNING user_id
    ), locked AS (
      SELECT t.user_id FROM like_totals t JOIN gone USING (user_id) ORDER BY t.user_id FOR UPDATE OF t
    ), totals AS (
      UPDATE like_totals t SET likes = t.likes - 1 FROM locked WHERE t.user_id = locked.user_id
    )
    SELECT count(*)::int AS removed, max(user_id) AS last FROM gone`.execute(db)
  return rows[0] ?? { removed: 0, last: null }
}

/** Removes the likes of users from a locked post. Returns how many there were. */
export async function deleteLikes(
  tx: Queryable,
  postId: string,
  userIds: string[],
): Promise<number> {
  return (await removeLikes(tx, postId, sql`user_id = ANY(${userIds}::bigint[])`)).removed
}

/** How many likes one short transaction removes. */
const STEP = sql.raw('5000')

/**
 * Removes the next likes of a deleted post, those of users after `afterUserId`. Returns the last of these users, or null when
 * there was none.
 */
export async function deleteNextLikes(
  db: Queryable,
  postId: string,
  afterUserId: string,
): Promise<string | null> {
  const next = sql`SELECT user_id FROM likes WHERE post_id = ${postId} AND user_id > ${afterUserId}
    ORDER BY user_id LIMIT ${STEP}`
  const filter = sql`user_id > ${afterUserId} AND user_id <= (SELECT max(user_id) FROM (${next}) step)`
  return (await removeLikes(db, postId, filter)).last
}

/** The deleted posts that may still have likes. */
export async function selectRemovedPosts(db: Queryable): Promise<string[]> {
  const rows = await db.selectFrom('removed_posts').select('post_id').orderBy('post_id').execute()
  return rows.map(({ post_id }) => post_id)
}

/** Removes a deleted post from the list of those with likes, unless it still has some. Nobody can add any. */
export async function deleteRemovedPost(db: Queryable, postId: string): Promise<void> {
  await sql`DELETE FROM removed_posts r WHERE post_id = ${postId}
    AND NOT EXISTS (SELECT FROM likes l WHERE l.post_id = r.post_id)`.execute(db)
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
