import { sql } from 'kysely'
import type { Queryable } from '../../kernel/db/database.ts'

export type Edit = { id: string; ownerId: string; text: string; periodSeconds: number }

/** Returns whether the text was changed. */
export async function updateText(
  tx: Queryable,
  { id, ownerId, text, periodSeconds }: Edit,
): Promise<boolean> {
  const { numAffectedRows = 0n } = await sql`
    UPDATE visible_posts SET text = ${text}, is_modified = true, modified_at = now()
    WHERE id = ${id} AND owner_id = ${ownerId} AND text <> ${text}
      AND created_at > now() - ${periodSeconds} * interval '1 second'`.execute(tx)
  return numAffectedRows > 0n
}

/** Returns the reason why an edit changed nothing; undefined if there is no such post. */
export async function selectEdited(db: Queryable, { id, ownerId, text, periodSeconds }: Edit) {
  const { rows } = await sql<{ is_same: boolean; is_late: boolean }>`
    SELECT text = ${text} AS is_same,
      created_at <= now() - ${periodSeconds} * interval '1 second' AS is_late
    FROM visible_posts WHERE id = ${id} AND owner_id = ${ownerId}`.execute(db)
  return rows[0]
}

export function selectOwner(db: Queryable, id: string) {
  return db.selectFrom('visible_posts').select('owner_id').where('id', '=', id).executeTakeFirst()
}

export async function eraseText(db: Queryable, id: string): Promise<void> {
  await db.updateTable('posts').set({ text: '' }).where('id', '=', id).execute()
}
