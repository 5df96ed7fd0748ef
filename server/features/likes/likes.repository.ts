import { sql } from 'kysely'
import { idArray, type Queryable } from '../../kernel/db/database.ts'
import type { Viewer } from '../../kernel/http/route.ts'

export type Like = { postId: string; userId: string }

/** Adds or removes a like. Returns the post's number of likes; null if there is no such post. */
export async function setLike(
  db: Queryable,
  { postId, userId, isLiked }: Like & { isLiked: boolean },
  lockWaitMs: number,
): Promise<number | null> {
  const { rows } = await sql<{ likes: number | null }>`
    SELECT set_like(${postId}, ${userId}, ${isLiked}, ${lockWaitMs}) AS likes`.execute(db)
  return rows[0]?.likes ?? null
}

/** A reader of a response. */
export type Reader = { viewer: Viewer; postIds: readonly string[] }

/**
 * Returns by user the liked posts among those that the user reads. Each pair is looked up by the primary
 * key: OFFSET 0 keeps the planner from reading all likes of a user or of a post instead, and without
 * the subqueries it would plan each call anew.
 */
export async function selectLikedPosts(
  db: Queryable,
  readers: Reader[],
): Promise<Map<string, Set<string>>> {
  const pairs = readers.flatMap(({ viewer: { userId }, postIds }) =>
    postIds.map((postId) => ({ userId, postId })),
  )
  const userIds = idArray(pairs.map(({ userId }) => userId))
  const postIds = idArray(pairs.map(({ postId }) => postId))
  const { rows } = await sql<{ user_id: string; post_id: string }>`
    SELECT liked.*
    FROM unnest((SELECT ${userIds}::bigint[]), (SELECT ${postIds}::bigint[])) AS read (user_id, post_id)
    CROSS JOIN LATERAL (
      SELECT user_id, post_id FROM likes
      WHERE post_id = read.post_id AND user_id = read.user_id OFFSET 0
    ) AS liked`.execute(db)
  const liked = new Map<string, Set<string>>()
  for (const { user_id, post_id } of rows) {
    liked.getOrInsertComputed(user_id, () => new Set()).add(post_id)
  }
  return liked
}

export const LIKES_STEP = 5000
const STEP = sql.raw(String(LIKES_STEP))

/** Deletes some likes of locked posts. Returns their number: below LIKES_STEP if none is left. */
export async function deleteLikesOf(db: Queryable, postIds: string[]): Promise<number> {
  const { numAffectedRows = 0n } = await sql`DELETE FROM likes WHERE (post_id, user_id) IN (
      SELECT post_id, user_id FROM likes WHERE post_id = ANY(${idArray(postIds)}::bigint[])
      ORDER BY post_id, user_id LIMIT ${STEP} FOR UPDATE
    )`.execute(db)
  return Number(numAffectedRows)
}

const OWN_STEP = sql.raw('500')

/** Makes a user's next likes count, or not if `hasLeft`. Returns the last id; null at the end. */
export async function setLikesLeft(
  tx: Queryable,
  { userId, afterId, hasLeft }: { userId: string; afterId: string; hasLeft: boolean },
): Promise<string | null> {
  const { rows } = await sql<{ id: string; post_id: string }>`
    SELECT id, post_id FROM likes
    WHERE user_id = ${userId}::bigint AND id > ${afterId}::bigint AND user_left <> ${hasLeft}
    ORDER BY id LIMIT ${OWN_STEP}`.execute(tx)
  const last = rows.at(-1)?.id
  if (last === undefined) return null
  const postIds = sql`${idArray(rows.map((row) => row.post_id))}::bigint[]`
  await sql`SELECT FROM posts WHERE id = ANY(${postIds}) ORDER BY id FOR NO KEY UPDATE`.execute(tx)
  await sql`UPDATE likes SET user_left = ${hasLeft}
    WHERE user_id = ${userId} AND post_id = ANY(${postIds}) AND user_left <> ${hasLeft}`.execute(tx)
  return last
}
