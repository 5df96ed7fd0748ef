import { sql } from 'kysely'
import type { Queryable } from '../../kernel/db/database.ts'

export type Edit = { id: string; ownerId: string; text: string; periodSeconds: number }

export async function updateText(db: Queryable, edit: Edit): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('visible_posts')
    .set({ text: edit.text, is_modified: true })
    .where('id', '=', edit.id)
    .where('owner_id', '=', edit.ownerId)
    .where('text', '!=', edit.text)
    .where('created_at', '>', sql<Date>`now() - ${edit.periodSeconds} * interval '1 second'`)
    .executeTakeFirst()
  return numUpdatedRows > 0n
}

/** Reads why an edit changed nothing. */
export function selectEdited(db: Queryable, edit: Edit) {
  return db
    .selectFrom('visible_posts')
    .select('text')
    .select(
      sql<boolean>`created_at <= now() - ${edit.periodSeconds} * interval '1 second'`.as('is_late'),
    )
    .where('id', '=', edit.id)
    .where('owner_id', '=', edit.ownerId)
    .executeTakeFirst()
}

export function selectOwner(db: Queryable, id: string) {
  return db.selectFrom('visible_posts').select('owner_id').where('id', '=', id).executeTakeFirst()
}

export async function eraseText(db: Queryable, id: string): Promise<void> {
  await db.updateTable('posts').set({ text: '' }).where('id', '=', id).execute()
}
