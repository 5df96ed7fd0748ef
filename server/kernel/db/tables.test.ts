import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { openDatabaseForTest } from '../../testing/database/database-for-test.ts'

/** `nullable` is empty for columns of views, of which PostgreSQL does not know it. */
type Column = { relation: string; column: string; nullable: ' or null' | '' }

async function readColumns(): Promise<(Column & { isView: boolean })[]> {
  const { db } = await openDatabaseForTest()
  const { rows } = await sql<Column & { isView: boolean }>`
    SELECT relname AS relation, attname AS column, relkind = 'v' AS "isView",
      CASE WHEN relkind = 'r' AND NOT attnotnull THEN ' or null' ELSE '' END AS nullable
    FROM pg_attribute JOIN pg_class ON pg_class.oid = attrelid
    WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'v')
      AND relname NOT LIKE 'kysely\\_%' AND attnum > 0 AND NOT attisdropped`.execute(db)
  return rows
}

/** Returns the columns that the type `Tables` states, of which the compiled program has nothing. */
function statedColumns(): Column[] {
  const source = readFileSync(join(import.meta.dirname, 'tables.ts'), 'utf8')
  const tables = source.slice(source.indexOf('type Tables'))
  const found = tables.matchAll(/^ {2}(\w+): \{(?: (.*) \}|\n((?: {4}.*\n)+) {2}\})$/gm)
  return [...found].flatMap(([, relation = '', inOneLine, inLines = '']) => {
    const columns = (inOneLine ?? inLines).matchAll(/(?:^ {4}|; |^)(\w+): (.*?)(?=; |$)/gm)
    return [...columns].map(([, column = '', type = '']) => ({
      relation,
      column,
      nullable: /\b(?:null|KnownBy)\b/.test(type) ? (' or null' as const) : '',
    }))
  })
}

test('Tables has every table, and of tables and views every column with its null', async () => {
  const stated = statedColumns()
  const relations = new Set(stated.map(({ relation }) => relation))
  const existing = (await readColumns()).filter((it) => !it.isView || relations.has(it.relation))
  const views = new Set(existing.filter((it) => it.isView).map(({ relation }) => relation))
  const format = ({ relation, column, nullable }: Column) =>
    `${relation}.${column}${views.has(relation) ? '' : nullable}`
  expect(stated.map(format).sort()).toEqual(existing.map(format).sort())
})
