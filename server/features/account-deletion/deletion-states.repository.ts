import { sql } from 'kysely'
import type { Queryable } from '../../kernel/db/database.ts'

export type DeletionState = { id: string; registeredAt: string; deletedAt: string | null }

/** Returns who is deleted or returning: of all, or of one user. */
export async function selectDeletionStates(
  db: Queryable,
  userId: string | null = null,
): Promise<DeletionState[]> {
  const exact = (time: string) =>
    sql.raw(`to_char(${time} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`)
  const { rows } = await sql<DeletionState>`
    SELECT id, ${exact('created_at')} AS "registeredAt", ${exact('deleted_at')} AS "deletedAt"
    FROM users WHERE (deleted_at IS NOT NULL OR is_returning)
      AND (${userId}::bigint IS NULL OR id = ${userId}) ORDER BY id`.execute(db)
  return rows
}

/** The job `move-accounts` does the rest. Returns how many accounts are deleted now. */
export async function repeatDeletions(db: Queryable, states: DeletionState[]): Promise<number> {
  const { rows } = await sql<{ id: string }>`
    WITH marked AS (
      UPDATE users SET deleted_at = noted."deletedAt", is_returning = noted."deletedAt" IS NULL
      FROM jsonb_to_recordset(${JSON.stringify(states)}::jsonb)
        AS noted(id bigint, "registeredAt" timestamptz, "deletedAt" timestamptz)
      WHERE users.id = noted.id AND created_at = "registeredAt"
        AND deleted_at IS DISTINCT FROM "deletedAt"
      RETURNING users.id, deleted_at
    ), closed AS (
      DELETE FROM sessions WHERE user_id IN (SELECT id FROM marked WHERE deleted_at IS NOT NULL)
    )
    SELECT id FROM marked WHERE deleted_at IS NOT NULL`.execute(db)
  return rows.length
}
