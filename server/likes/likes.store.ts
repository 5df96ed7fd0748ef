import { sql } from 'kysely'
import type { Queryable } from '../db/open.ts'
import { idArray } from '../db/row-id.ts'

/**
 * Adds the likes of users who have not liked a locked post yet, and counts them for each user; gives how many were new.
 * Totals are touched in the order of user ids everywhere, so that two such statements cannot wait for each other.
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

/** Removes the likes that users (all of them without `userIds`) gave a locked post; gives how many there were. */
export async function deleteLikes(
  tx: Queryable,
  postId: string,
  userIds?: string[],
): Promise<number> {
  const whose = userIds ? sql`AND user_id = ANY(${userIds}::bigint[])` : sql``
  const { rows } = await sql<{ removed: number }>`
    WITH gone AS (
      DELETE FROM likes WHERE post_id = ${postId} ${whose} RETURNING user_id
    ), locked AS (
      SELECT t.user_id FROM like_totals t JOIN gone USING (user_id) ORDER BY t.user_id FOR UPDATE OF t
    ), totals AS (
      UPDATE like_totals t SET likes = t.likes - 1 FROM locked WHERE t.user_id = locked.user_id
    )
    SELECT count(*)::int AS removed FROM gone`.execute(tx)
  return rows[0]?.removed ?? 0
}

export type LikesQuestion = { userId: string; postIds: string[] }

/** For each question, in order, the posts of it that its user likes. */
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
