import { type Kysely, sql } from 'kysely'
import type { Migration } from 'kysely/migration'
import type { Queryable } from './database.ts'
import { refuseUnfinishedRestore } from './restore-lock.ts'

export type MarkedMigration = Migration & {
  /** Whether servers of the version before can ignore what it adds. */
  isAdditive: boolean
}

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

async function readNames(
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

/** Stores for each migration whether it is additive, which an older version cannot know. */
export function noteAdditive(
  migrations: Record<string, MarkedMigration>,
): Record<string, Migration> {
  return Object.fromEntries(
    Object.entries(migrations).map(([name, { up, isAdditive }]) => [
      name,
      {
        async up(db: Kysely<unknown>) {
          await up(db)
          await sql`CREATE TABLE IF NOT EXISTS additive_migrations (name text PRIMARY KEY)`.execute(
            db,
          )
          if (isAdditive) await sql`INSERT INTO additive_migrations VALUES (${name})`.execute(db)
        },
      },
    ]),
  )
}
