import { type Kysely, sql } from 'kysely'
import type { Migration } from 'kysely/migration'
import type { Queryable } from './database.ts'
import { refuseUnfinishedRestore } from './restore-lock.ts'

/** A migration that says whether servers of the version before it can go on working with its tables. */
export type MarkedMigration = Migration & {
  /**
   * Whether it only adds what a server without it never notices: tables, indexes, columns that may be null or have a default, and
   * nothing that such a server would have to fill or to respect.
   */
  isAdditive: boolean
}

/** The migrations of a database, compared with those of a version of the product. */
export type AppliedMigrations = {
  /** Names of this version's migrations that the database lacks. */
  missing: string[]
  /** Names of migrations of a newer version that a server of this version can work with. */
  additive: string[]
  /** Names of migrations of a newer version that it cannot work with. */
  breaking: string[]
}

/**
 * Compares the database with the migrations of this version; `names` are theirs. Throws StartError where a restore has not come to
 * its end.
 */
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

/** Returns the names in a table, in order; none where there is no such table yet. */
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

/**
 * Returns the migrations such that each notes in the database, in its own transaction, whether it is additive: a version that does
 * not have it cannot know this in any other way.
 */
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
