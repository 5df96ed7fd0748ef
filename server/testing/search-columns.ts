import { sql } from 'kysely'
import type { Queryable } from '../db/database.ts'

/** Who is looked for: words that name the person, and their id. */
type Person = { words: string[]; id: string }

/** Columns that name a user by id. */
const USER_COLUMN = /(?:^|_)(?:user|owner|author|reporter)_id$/

/**
 * Searches every column of every table, the queue's included, for a person. Returns the tables in which they are found, with
 * what was found there.
 */
export async function findPerson(db: Queryable, { words, id }: Person): Promise<string[]> {
  const { rows: columns } = await sql<{ schema: string; table: string; column: string }>`
    SELECT table_schema AS schema, table_name AS table, column_name AS column
    FROM information_schema.columns JOIN information_schema.tables USING (table_schema, table_name)
    WHERE table_type = 'BASE TABLE' AND table_schema IN ('public', 'graphile_worker')
    ORDER BY 1, 2, 3`.execute(db)
  const found: string[] = []
  for (const { schema, table, column } of columns) {
    const from = sql.table(`${schema}.${table}`)
    const text = sql`lower(${sql.ref(column)}::text)`
    for (const word of words) {
      const holds = sql`position(${word.toLowerCase()} IN ${text}) > 0`
      if (await hasRow(db, sql`FROM ${from} WHERE ${holds}`))
        found.push(`${table}.${column}: ${word}`)
    }
    if (!USER_COLUMN.test(column)) continue
    if (await hasRow(db, sql`FROM ${from} WHERE ${text} = ${id}`)) found.push(`${table}.${column}`)
  }
  return found
}

async function hasRow(db: Queryable, from: ReturnType<typeof sql>): Promise<boolean> {
  const { rows } = await sql<{ found: boolean }>`SELECT EXISTS (SELECT ${from}) AS found`.execute(
    db,
  )
  return rows[0]?.found ?? false
}
