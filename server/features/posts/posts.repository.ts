import { sql } from 'kysely'
import { WRITTEN_FIELD_NAMES } from '../../../contract/post-rules.ts'
import { hasRow, type Queryable } from '../../kernel/db/database.ts'
import type { NewPost } from './publications.repository.ts'

export type Edit = Pick<NewPost, 'written' | 'ownerId'> & { id: string; periodSeconds: number }

function valuesOf(written: Edit['written']) {
  return WRITTEN_FIELD_NAMES.map((field) => sql`${sql.ref(field)} = ${written[field]}`)
}

/** Locks a visible post for an edit by its owner. `text` is the one before. Returns undefined if there is no such post. */
export async function lockForEdit(tx: Queryable, { id, ownerId, written, periodSeconds }: Edit) {
  const { rows } = await sql<{ text: string; is_same: boolean; is_late: boolean }>`
    SELECT text, ${sql.join(valuesOf(written), sql` AND `)} AS is_same,
      created_at <= now() - ${periodSeconds} * interval '1 second' AS is_late
    FROM visible_posts WHERE id = ${id} AND owner_id = ${ownerId} FOR NO KEY UPDATE`.execute(tx)
  return rows[0]
}

export async function storeEdit(tx: Queryable, { id, ownerId, written }: Edit): Promise<void> {
  await sql`UPDATE posts SET ${sql.join(valuesOf(written))}, is_modified = true, modified_at = now()
    WHERE id = ${id} AND owner_id = ${ownerId}`.execute(tx)
}

/** Stores the mentions of a locked post after an edit. Returns the ids of the users who are notified now. */
export async function editMentions(tx: Queryable, id: string, names: string[]): Promise<string[]> {
  const { rows } = await sql<{ told: string[] }>`
    SELECT edit_mentions(${id}, ${names}) AS told`.execute(tx)
  return rows[0]?.told ?? []
}

export async function eraseText(db: Queryable, id: string): Promise<void> {
  await db.updateTable('posts').set({ text: '' }).where('id', '=', id).execute()
}

export function isReported(db: Queryable, id: string): Promise<boolean> {
  const reports = db.selectFrom('reports').select('id').where('post_id', '=', id)
  return hasRow(reports.where('state', '=', 'open').limit(1))
}
