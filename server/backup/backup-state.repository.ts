import { sql } from 'kysely'
import type { Queryable } from '../db/database.ts'

/** What is known of the wall's backups. */
export type BackupState = {
  /** When the last one was written; null before. */
  at: Date | null
  bytes: number
  /** Why the last nightly one failed; null where it did not. */
  failed: string | null
  verifiedAt: Date | null
}

const NOW = sql<Date>`now()`

export async function selectBackupState(db: Queryable): Promise<BackupState> {
  const row = await db
    .selectFrom('installation')
    .select(['backup_at', 'backup_bytes', 'backup_failed', 'backup_verified_at'])
    .executeTakeFirstOrThrow()
  return {
    at: row.backup_at,
    bytes: Number(row.backup_bytes ?? 0),
    failed: row.backup_failed,
    verifiedAt: row.backup_verified_at,
  }
}

/** Stores that a backup of so many bytes was written. */
export async function storeBackup(db: Queryable, bytes: number): Promise<void> {
  const made = { backup_at: NOW, backup_bytes: String(bytes), backup_failed: null }
  await db.updateTable('installation').set(made).execute()
}

/** Stores why a backup could not be written or verified. */
export async function storeBackupFailure(db: Queryable, why: string): Promise<void> {
  await db.updateTable('installation').set({ backup_failed: why }).execute()
}

/** Stores that a backup was verified. */
export async function storeVerification(db: Queryable): Promise<void> {
  await db.updateTable('installation').set({ backup_verified_at: NOW }).execute()
}
