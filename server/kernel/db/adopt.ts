import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { sql } from 'kysely'
import { StartError } from '../errors/app-error.ts'
import type { Db, Queryable } from './database.ts'

export const SCHEMA = join(import.meta.dirname, '../../schema')
export const FIRST = '001-schema'

export function readSchema(name: string): string {
  return readFileSync(join(SCHEMA, `${name}.sql`), 'utf8')
}

const SINCE_ADOPTED = readSchema('since-0.1.0')

export const FIRST_SCHEMA = SINCE_ADOPTED + readSchema(FIRST)

/** The last migration of 0.1.0. */
export const ADOPTED = '027-post-changes'

/** Converts a database of 0.1.0 to this schema. Throws StartError for an older database. */
export async function adopt(db: Db, version: string): Promise<void> {
  const applied = await readNames(db, 'kysely_migration')
  if (applied.length === 0 || applied.includes(FIRST)) return
  if (!applied.includes(ADOPTED)) {
    throw new StartError(
      'База данных старше 0.1.0, эта версия её не обновит. Сначала запустите на ней версию 0.1.0.',
    )
  }
  await db.transaction().execute(async (tx) => {
    const { rows } =
      await sql`DELETE FROM kysely_migration WHERE name = ${ADOPTED} RETURNING name`.execute(tx)
    // Another node has already converted the database.
    if (rows.length === 0) return
    await sql.raw(SINCE_ADOPTED + readSchema('from-0.1.0')).execute(tx)
    await sql`DELETE FROM kysely_migration`.execute(tx)
    await sql`DELETE FROM additive_migrations`.execute(tx)
    await sql`INSERT INTO kysely_migration VALUES (${FIRST}, ${new Date().toISOString()})`.execute(
      tx,
    )
    await tx.updateTable('installation').set({ version }).execute()
  })
}

/** Creates the tables of 0.1.0 in an empty schema, to load its backups. */
export async function createAdopted(db: Db): Promise<void> {
  const applied = `INSERT INTO kysely_migration VALUES ('${ADOPTED}', '')`
  await sql.raw(FIRST_SCHEMA + readSchema('to-0.1.0') + applied).execute(db)
}

export async function hasTable(db: Queryable, table: string): Promise<boolean> {
  const { rows } = await sql<{
    exists: boolean
  }>`SELECT to_regclass(${table}) IS NOT NULL AS exists`.execute(db)
  return rows[0]?.exists ?? false
}

export async function readNames(
  db: Queryable,
  table: 'kysely_migration' | 'additive_migrations',
): Promise<string[]> {
  if (!(await hasTable(db, table))) return []
  const { rows } = await sql<{
    name: string
  }>`SELECT name FROM ${sql.table(table)} ORDER BY name`.execute(db)
  return rows.map(({ name }) => name)
}
