import { sql } from 'kysely'
import type { OwnRemovedPost } from '../../../contract/moderation.ts'
import { hasRow, type Queryable, unixSeconds } from '../../kernel/db/database.ts'
import { POST_STATE } from './queue.repository.ts'

const OWN_REMOVED_MAX = 50

/** SQL for the ids of the posts that somebody still has to decide about. */
export const UNDER_APPEAL = sql`SELECT post_id FROM appeals WHERE state = 'open'`

export async function selectOwnRemoved(db: Queryable, ownerId: string): Promise<OwnRemovedPost[]> {
  const { rows } = await sql<OwnRemovedPost>`
    SELECT p.id, p.text, ${unixSeconds('p.created_at')} AS "createdAt", ${POST_STATE} AS state,
      ${unixSeconds('p.hidden_at')} AS "removedAt", coalesce(p.hidden_reason, '') AS reason,
      ${unixSeconds('p.hidden_until')} AS until,
      CASE WHEN ap.post_id IS NOT NULL THEN json_build_object('text', ap.text,
        'state', CASE WHEN ap.state = 'open' THEN 'open' ELSE 'refused' END) END AS appeal
    FROM posts p LEFT JOIN appeals ap ON ap.post_id = p.id
    WHERE p.owner_id = ${ownerId} AND p.hidden_for IN ('removed', 'reported')
    ORDER BY p.hidden_at DESC, p.id DESC LIMIT ${OWN_REMOVED_MAX}`.execute(db)
  return rows
}

export function isOwnRemoved(db: Queryable, id: string, ownerId: string): Promise<boolean> {
  const posts = db.selectFrom('posts').select('id').where('id', '=', id)
  const removed = posts.where('owner_id', '=', ownerId).where('hidden_for', '=', 'removed')
  return hasRow(removed.where('hidden_until', '>', sql<Date>`now()`))
}

/** Adds an appeal. Returns false when the post has had one. */
export async function insertAppeal(
  tx: Queryable,
  appeal: { postId: string; userId: string; text: string },
): Promise<boolean> {
  const { numInsertedOrUpdatedRows } = await tx
    .insertInto('appeals')
    .values({ post_id: appeal.postId, user_id: appeal.userId, text: appeal.text })
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirst()
  return numInsertedOrUpdatedRows === 1n
}
