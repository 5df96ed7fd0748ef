import { sql } from 'kysely'
import type { Queryable } from './database.ts'
import { refuseUnfinishedRestore } from './restore-lock.ts'

export type AppliedMigrations = {
  missing: string[]
  /** Migrations of a newer version that a server of this version can work with. */
  additive: string[]
  breaking: string[]
}

/** Throws StartError if a restore is unfinished. */
export async function readAppliedMigrations(
  db: Queryable,
  names: string[],
): Promise<AppliedMigrations> {
  await refuseUnfinishedRestore(db)
  const applied = await readNames(db, 'kysely_migration')
  const marked = new Set(await readNames(db, 'additive_migrations'))
  const unknown = applied.filter((name) => !names.includes(name))
  return {
    missing: names.filter((name) => !applied.includes(name)),
    additive: unknown.filter((name) => marked.has(name)),
    breaking: unknown.filter((name) => !marked.has(name)),
  }
}

/** Returns no names if there is no such table. */
export async function readNames(
  db: Queryable,
  table: 'kysely_migration' | 'additive_migrations',
): Promise<string[]> {
  const exists = await sql<{ exists: boolean }>`SELECT to_regclass(${table}) IS NOT NULL AS exists`
    .execute(db)
    .then(({ rows }) => rows[0]?.exists)
  if (!exists) return []
  const { rows } = await sql<{
    name: string
  }>`SELECT name FROM ${sql.table(table)} ORDER BY name`.execute(db)
  return rows.map(({ name }) => name)
}
