import { sql } from 'kysely'
import type { OwnRemovedPost } from '../../contract/moderation.ts'
import type { Queryable } from '../db/database.ts'
import { unixSeconds } from '../db/sql-parts.ts'

const OWN_REMOVED_MAX = 50

/** An author's removed and hidden posts, the last of them first. */
export async function selectOwnRemoved(db: Queryable, ownerId: string): Promise<OwnRemovedPost[]> {
  const { rows } = await sql<OwnRemovedPost>`
    SELECT a.id, a.text, ${unixSeconds('a.created_at')} AS "createdAt", a.why AS state,
      ${unixSeconds('a.archived_at')} AS "removedAt", CASE a.why WHEN 'removed' THEN coalesce(a.reason, '') ELSE '' END AS reason,
      ${unixSeconds('a.until')} AS until,
      CASE WHEN ap.post_id IS NOT NULL THEN json_build_object('text', ap.text,
        'state', CASE WHEN ap.state = 'open' THEN 'open' ELSE 'refused' END) END AS appeal
    FROM archived_posts a LEFT JOIN appeals ap ON ap.post_id = a.id
    WHERE a.owner_id = ${ownerId} AND a.why IN ('removed', 'hidden') AND NOT a.is_restoring
    ORDER BY a.archived_at DESC, a.id DESC LIMIT ${OWN_REMOVED_MAX}`.execute(db)
  return rows
}

/** Whether a post of this author is removed and can still be restored, so that an appeal makes sense. */
export async function isOwnRemoved(db: Queryable, id: string, ownerId: string): Promise<boolean> {
  const row = await db
    .selectFrom('archived_posts')
    .select('id')
    .where('id', '=', id)
    .where('owner_id', '=', ownerId)
    .where('why', '=', 'removed')
    .where('is_restoring', '=', false)
    .where('until', '>', sql<Date>`now()`)
    .executeTakeFirst()
  return row !== undefined
}

/** Whether a decision closed an appeal. */
export async function hasClosedAppeal(db: Queryable, decisionId: string): Promise<boolean> {
  const row = await db
    .selectFrom('appeals')
    .select('post_id')
    .where('decision_id', '=', decisionId)
    .executeTakeFirst()
  return row !== undefined
}

/** Adds an appeal. Returns false where the post has had one. */
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
