import { sql } from 'kysely'
import type { Queryable } from '../db/database.ts'
import { type Archive, archivingCte } from './archive.repository.ts'
import { lockMoves, lockPublished } from './post-locks.ts'
import { changeWallTotal, countOnWall } from './wall-total.ts'

export type Edit = { id: string; ownerId: string; text: string; periodSeconds: number }

/** Changes the text of the owner's post within the period, by the database's clock. Returns false when nothing changed. */
export async function updateText(db: Queryable, edit: Edit): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('posts')
    .set({ text: edit.text, is_modified: true })
    .where('id', '=', edit.id)
    .where('owner_id', '=', edit.ownerId)
    .where('text', '!=', edit.text)
    .where('created_at', '>', sql<Date>`now() - ${edit.periodSeconds} * interval '1 second'`)
    .executeTakeFirst()
  return numUpdatedRows > 0n
}

/** Reads why an edit changed nothing; undefined when the owner has no such post. */
export function selectEdited(db: Queryable, edit: Edit) {
  return db
    .selectFrom('posts')
    .select('text')
    .select(
      sql<boolean>`created_at <= now() - ${edit.periodSeconds} * interval '1 second'`.as('is_late'),
    )
    .where('id', '=', edit.id)
    .where('owner_id', '=', edit.ownerId)
    .executeTakeFirst()
}

/**
 * Locks a post that is about to be removed, and the replied post, whose count is about to change. Returns false when there is no
 * such post, or it is not `ownerId`'s where that is given.
 */
export async function lockToRemove(tx: Queryable, id: string, ownerId?: string): Promise<boolean> {
  await lockMoves(tx, [id])
  const owner = (await lockPublished(tx, [id])).get(id)
  return owner !== undefined && (ownerId === undefined || owner === ownerId)
}

type Removal = { id: string; archive: Archive; isEvidence: boolean }

/**
 * Removes a post that its caller has locked, archives it, and subtracts it from every count. With `isEvidence` it is archived
 * only if it has open reports, and without its likes. A post with likes is added to `removed_posts`, which takes them out of
 * every list and total until the job `remove-likes` has moved or removed their rows.
 */
export async function removePost(
  tx: Queryable,
  { id, archive, isEvidence }: Removal,
): Promise<{ hasLikes: boolean }> {
  const isKept = isEvidence
    ? sql`EXISTS (SELECT FROM reports WHERE post_id = gone.id AND state = 'open')`
    : sql`true`
  const { rows } = await sql<{ has_likes: boolean }>`
    WITH gone AS (
      DELETE FROM posts WHERE id = ${id} RETURNING *
    ), archived AS (${archivingCte(archive, isKept)}), replied AS (
      UPDATE posts p SET replies_count = p.replies_count - 1
      FROM gone WHERE p.id = gone.replied_post_id
    ), owner AS (
      UPDATE owner_totals t SET
        posts = t.posts - (gone.replied_post_id IS NULL)::int,
        replies = t.replies - (gone.replied_post_id IS NOT NULL)::int
      FROM gone WHERE t.user_id = gone.owner_id
    ), wall AS (
      ${changeWallTotal(countOnWall('gone'), '-')}
    ), liked AS (
      INSERT INTO removed_posts (post_id, keeps_likes) SELECT gone.id, ${!isEvidence} FROM gone
      WHERE EXISTS (SELECT FROM likes WHERE post_id = gone.id) RETURNING post_id
    )
    SELECT EXISTS (SELECT FROM liked) AS has_likes`.execute(tx)
  return { hasLikes: rows[0]?.has_likes ?? false }
}

export function selectOwner(db: Queryable, id: string) {
  return db.selectFrom('posts').select('owner_id').where('id', '=', id).executeTakeFirst()
}
