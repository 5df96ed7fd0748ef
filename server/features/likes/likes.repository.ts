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

/** A reader of a response. All readers of one response share the same `postIds` array. */
export type Reader = { viewer: Viewer; postIds: readonly string[] }

/**
 * Returns by user the liked posts among the posts of all readers. Without the subqueries PostgreSQL
 * would plan each call anew; without OFFSET 0 it would read all likes of a user.
 */
export async function selectLikedPosts(
  db: Queryable,
  readers: Reader[],
): Promise<Map<string, Set<string>>> {
  const userIds = idArray([...new Set(readers.map(({ viewer }) => viewer.userId))])
  const responses = new Set(readers.map(({ postIds }) => postIds))
  const postIds = idArray([...new Set([...responses].flat())])
  const { rows } = await sql<{ user_id: string; post_id: string }>`
    SELECT liked.* FROM unnest((SELECT ${postIds}::bigint[])) AS post (id)
    CROSS JOIN LATERAL (
      SELECT user_id, post_id FROM likes
      WHERE post_id = post.id AND user_id = ANY ((SELECT ${userIds}::bigint[])::bigint[]) OFFSET 0
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
