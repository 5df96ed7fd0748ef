import { sql } from 'kysely'
import type { Queryable } from '../kernel/db/database.ts'

/** Words that name the person, and their id. */
type Person = { words: string[]; id: string }

const USER_COLUMN = /(?:^|_)(?:user|owner|author|reporter|muted)_id$/

/**
 * Searches every column of every table, the queue's included, and returns those with the person.
 */
export async function findPerson(db: Queryable, { words, id }: Person): Promise<string[]> {
  const { rows: columns } = await sql<{ schema: string; table: string; column: string }>`
    SELECT table_schema AS schema, table_name AS table, column_name AS column
    FROM information_schema.columns JOIN information_schema.tables USING (table_schema, table_name)
    WHERE table_type = 'BASE TABLE' AND table_schema IN ('public', 'graphile_worker')
    ORDER BY 1, 2, 3`.execute(db)
  const tables = Map.groupBy(columns, ({ schema, table }) => `${schema}.${table}`)
  const found: string[] = []
  for (const [table, ofTable] of tables) {
    const searches = ofTable.flatMap(({ table: name, column }) => {
      const text = sql`lower(${sql.ref(column)}::text)`
      const forWords = words.map((word) => ({
        where: `${name}.${column}: ${word}`,
        holds: sql`position(${word.toLowerCase()} IN ${text}) > 0`,
      }))
      const forId = { where: `${name}.${column}`, holds: sql`${text} = ${id}` }
      return USER_COLUMN.test(column) ? [...forWords, forId] : forWords
    })
    const asked = searches.map(
      ({ where, holds }) =>
        sql`SELECT ${where}::text AS column WHERE EXISTS (SELECT FROM ${sql.table(table)} WHERE ${holds})`,
    )
    const { rows } = await sql<{ column: string }>`${sql.join(asked, sql` UNION ALL `)}`.execute(db)
    found.push(...rows.map(({ column }) => column))
  }
  return found
}
