import { sql } from 'kysely'
import type { Queryable } from '../../kernel/db/database.ts'

/** Words, and the id of a user. */
type SearchTerms = { words: string[]; id?: string }

const USER_COLUMN = '(^|_)(user|owner|author|reporter|muted)_id$'
const TIME = '^\\d{4}-\\d\\d-\\d\\dT'

/**
 * Searches every column of every table, the queue's included, and returns those with a word or the
 * user. It leaves out times, whose digits could match by chance.
 */
export async function searchColumns(db: Queryable, { words, id }: SearchTerms): Promise<string[]> {
  const { rows: tables } = await sql<{ schema: string; name: string }>`
    SELECT schemaname AS schema, tablename AS name FROM pg_tables
    WHERE schemaname NOT IN ('pg_catalog', 'information_schema') ORDER BY 1, 2`.execute(db)
  const searches = tables.map(({ schema, name }) => {
    const cells = sql`${sql.table(`${schema}.${name}`)} t, jsonb_each_text(to_jsonb(t)) c (field, cell)`
    return sql`SELECT ${`${name}.`} || field || ${': '} || word AS place
      FROM ${cells}, unnest(${words}::text[]) word
      WHERE cell !~ ${TIME} AND position(lower(word) IN lower(cell)) > 0
      UNION SELECT ${`${name}.`} || field FROM ${cells} WHERE field ~ ${USER_COLUMN} AND cell = ${id}`
  })
  const { rows } = await sql<{ place: string }>`${sql.join(searches, sql` UNION `)}`.execute(db)
  return rows.map(({ place }) => place)
}
