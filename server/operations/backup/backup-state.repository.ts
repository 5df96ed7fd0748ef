import { sql } from 'kysely'
import { hasRow, type Queryable } from '../../kernel/db/database.ts'

/** The beginning of `backup_failed` if the backup was made, and only its command failed. */
export const COMMAND = 'BACKUP_COMMAND'

export type BackupState = Awaited<ReturnType<typeof selectBackupState>>

/**
 * Returns the times of the last backup and verification, and the last nightly failures. `since` is
 * when the wall's database was made.
 */
export async function selectBackupState(db: Queryable) {
  const { failed, bytes, ...state } = await db
    .selectFrom('installation')
    .select(['backup_at as at', 'backup_bytes as bytes', 'backup_failed as failed'])
    .select(['backup_verified_at as verifiedAt', 'backup_verified_copy as verifiedCopy'])
    .select('backup_verification_failed as verificationFailed')
    .select(
      sql<Date | null>`(SELECT min(timestamp)::timestamptz FROM kysely_migration
        WHERE timestamp <> '')`.as('since'),
    )
    .executeTakeFirstOrThrow()
  const isCommand = failed?.startsWith(COMMAND) ?? false
  return {
    ...state,
    bytes: Number(bytes ?? 0),
    failed: isCommand ? null : failed,
    commandFailed: isCommand ? failed : null,
  }
}

/** Stores a backup. Keeps the state of verifications and BACKUP_COMMAND, which it has not run. */
export async function storeBackup(
  db: Queryable,
  { bytes, createdAt }: { bytes: number; createdAt: string },
): Promise<void> {
  const made = {
    backup_at: new Date(createdAt),
    backup_bytes: String(bytes),
    backup_failed: sql<string>`CASE WHEN starts_with(backup_failed, ${COMMAND}) THEN backup_failed END`,
  }
  await db.updateTable('installation').set(made).execute()
}

/** Stores why the last nightly backup or its command failed; null if neither failed. */
export async function storeBackupFailure(db: Queryable, why: string | null): Promise<void> {
  await db.updateTable('installation').set({ backup_failed: why }).execute()
}

/** Stores a verification of this wall's last backup. Returns false for any other backup. */
export async function storeVerification(
  db: Queryable,
  { createdAt, fingerprint }: { createdAt: string; fingerprint: Buffer | null },
): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('installation')
    .set({
      backup_verified_at: sql<Date>`now()`,
      backup_verified_copy: new Date(createdAt),
      backup_verification_failed: null,
    })
    .where('secret_fingerprint', 'is not distinct from', fingerprint)
    .where((eb) => eb.or([eb('backup_at', 'is', null), eb('backup_at', '<=', new Date(createdAt))]))
    .executeTakeFirst()
  return numUpdatedRows > 0n
}

export async function storeVerificationFailure(db: Queryable, why: string): Promise<void> {
  await db.updateTable('installation').set({ backup_verification_failed: why }).execute()
}

/** In UTC. */
export type BackupTime = { hour: number; minute: number }

/** Stores when the nightly backup is made. Of nodes that differ, the one that started last decides. */
export async function storeBackupTime(db: Queryable, at: BackupTime): Promise<void> {
  const minute = at.hour * 60 + at.minute
  const rows = db.updateTable('installation').set({ backup_minute: minute })
  await rows.where('backup_minute', 'is distinct from', minute).execute()
}

export async function isBackupTime(db: Queryable, at: Date): Promise<boolean> {
  const minute = at.getUTCHours() * 60 + at.getUTCMinutes()
  return hasRow(db.selectFrom('installation').select('version').where('backup_minute', '=', minute))
}
