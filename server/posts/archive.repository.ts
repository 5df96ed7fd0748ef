import { type RawBuilder, sql } from 'kysely'
import type { Queryable } from '../db/database.ts'
import type { Tables } from '../db/tables.ts'
import { lockMoves } from './post-locks.ts'
import { changeWallTotal, countOnWall } from './wall-total.ts'

/** Why a removed post is archived, by whom, and for how many days. */
export type Archive = {
  why: Tables['archived_posts']['why']
  reason: string | null
  by: string
  days: number
}

/** The columns of a post that its archived row has as well and that come back with it. Its counts are counted anew. */
export const KEPT_COLUMNS = sql.raw(
  'id, owner_id, text, created_at, is_modified, parent_post_id, replied_post_id',
)

/** The statement that archives the rows of the CTE `gone`, deleted posts, for which `isKept` holds. */
export function archivingCte({ why, reason, by, days }: Archive, isKept: RawBuilder<unknown>) {
  return sql`INSERT INTO archived_posts (${KEPT_COLUMNS}, likes_count, replies_count, why, reason, archived_by, until)
    SELECT ${KEPT_COLUMNS}, likes_count, replies_count, ${why}, ${reason}, ${by}, now() + ${days} * interval '1 day'
    FROM gone WHERE ${isKept}`
}

type ArchivedPost = {
  id: string
  owner_id: string
  text: string
  why: Archive['why']
  reason: string | null
  archived_by: string
  until: Date
  is_restoring: boolean
}

/** Locks an archived post for a change. Returns undefined where the post is not archived. */
export async function lockArchived(tx: Queryable, id: string): Promise<ArchivedPost | undefined> {
  await lockMoves(tx, [id])
  return tx
    .selectFrom('archived_posts')
    .select(['id', 'owner_id', 'text', 'why', 'reason', 'archived_by', 'until', 'is_restoring'])
    .where('id', '=', id)
    .forUpdate()
    .executeTakeFirst()
}

/** Changes why an archived post is archived. It is no longer being restored then. */
export async function updateArchived(
  tx: Queryable,
  id: string,
  { why, reason, by, days }: Archive,
): Promise<void> {
  await tx
    .updateTable('archived_posts')
    .set({
      why,
      reason,
      archived_by: by,
      archived_at: sql<Date>`now()`,
      until: sql<Date>`now() + ${days} * interval '1 day'`,
      is_restoring: false,
    })
    .where('id', '=', id)
    .execute()
}

/** Marks an archived post as one whose likes are coming back, and keeps them out of every list and total until all have. */
export async function markRestoring(tx: Queryable, id: string): Promise<void> {
  await tx.updateTable('archived_posts').set({ is_restoring: true }).where('id', '=', id).execute()
  await tx
    .insertInto('removed_posts')
    .values({ post_id: id, keeps_likes: true })
    .onConflict((conflict) => conflict.doNothing())
    .execute()
}

export async function selectRestoring(db: Queryable): Promise<string[]> {
  const rows = await db
    .selectFrom('archived_posts')
    .select('id')
    .where('is_restoring', '=', true)
    .orderBy('id')
    .execute()
  return rows.map(({ id }) => id)
}

/** Puts a locked archived post back, whose likes are all in `likes`. Its likes and replies are counted from their rows. */
export async function putBack(tx: Queryable, id: string): Promise<void> {
  await sql`WITH back AS (
      DELETE FROM archived_posts WHERE id = ${id} RETURNING *
    ), shown AS (
      DELETE FROM removed_posts WHERE post_id = ${id}
    ), post AS (
      INSERT INTO posts (${KEPT_COLUMNS}, likes_count, replies_count) OVERRIDING SYSTEM VALUE
      SELECT ${KEPT_COLUMNS},
        (SELECT count(*) FROM likes WHERE post_id = ${id}),
        (SELECT count(*) FROM posts WHERE replied_post_id = ${id})
      FROM back
    ), replied AS (
      UPDATE posts p SET replies_count = p.replies_count + 1
      FROM back WHERE p.id = back.replied_post_id
    ), owner AS (
      INSERT INTO owner_totals AS t (user_id, posts, replies)
      SELECT owner_id, (replied_post_id IS NULL)::int, (replied_post_id IS NOT NULL)::int FROM back
      ON CONFLICT (user_id) DO UPDATE
      SET posts = t.posts + excluded.posts, replies = t.replies + excluded.replies
    )
    ${changeWallTotal(countOnWall('back'), '+')}`.execute(tx)
}

/** An open appeal may still bring the post back, so it stays until somebody has decided, or the appeal itself expires. */
const IS_EXPIRED = sql<boolean>`until < now() AND NOT is_restoring
  AND NOT EXISTS (SELECT FROM appeals WHERE post_id = archived_posts.id AND state = 'open')`

/** The id of an archived post that can be purged and whose likes have all left `likes`; undefined where there is none. */
export async function findExpired(db: Queryable): Promise<string | undefined> {
  const row = await db
    .selectFrom('archived_posts')
    .select('id')
    .where(IS_EXPIRED)
    .where('id', 'not in', (eb) => eb.selectFrom('removed_posts').select('post_id'))
    .orderBy('until')
    .limit(1)
    .executeTakeFirst()
  return row?.id
}

/** Deletes an archived post for good, if it can be purged. */
export async function deleteExpired(db: Queryable, id: string): Promise<void> {
  await db.deleteFrom('archived_posts').where('id', '=', id).where(IS_EXPIRED).execute()
}
