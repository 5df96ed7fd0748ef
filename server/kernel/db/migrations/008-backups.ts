import { type Kysely, sql } from 'kysely'

export const isAdditive = true

/**
 * Keeps when the wall was backed up and a backup verified last, and why the last nightly one
 * failed.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`ALTER TABLE installation
    ADD backup_at timestamptz, ADD backup_bytes bigint, ADD backup_failed text,
    ADD backup_verified_at timestamptz`.execute(db)
}
