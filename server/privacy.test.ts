import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { privacySection, quoted } from './testing/privacy-page.ts'
import { appForTest } from './testing/test-app.ts'

const ROOT = join(import.meta.dirname, '..')
test('the page about personal data names every column of every table, and says why and until when', async () => {
  const { db } = await appForTest()
  const { rows } = await sql<{ table: string; columns: string[] }>`
    SELECT table_name AS table, array_agg(column_name::text ORDER BY column_name) AS columns
    FROM information_schema.columns JOIN information_schema.tables USING (table_schema, table_name)
    WHERE table_schema = 'public' AND table_type = 'BASE TABLE' GROUP BY 1`.execute(db)
  const inSchema = new Map(rows.map(({ table, columns }) => [table, columns]))
  const nobodys = quoted(privacySection('Tables about nobody'))
  const lines = privacySection('Tables about people')
    .split('\n')
    .filter((line) => line.startsWith('| `'))
  const onPage = lines.map((line) => {
    const [, table = '', columns = '', why = '', until = ''] = line
      .split('|')
      .map((cell) => cell.trim())
    expect([why, until], table).toEqual([
      expect.stringMatching(/\w{3}/),
      expect.stringMatching(/\w{3}/),
    ])
    return [quoted(table)[0] ?? '', quoted(columns).sort()] as const
  })
  expect([...onPage.map(([table]) => table), ...nobodys].sort()).toEqual(
    [...inSchema.keys()].sort(),
  )
  for (const [table, columns] of onPage) expect(columns, table).toEqual(inSchema.get(table))
  // A table about nobody refers to nobody.
  for (const table of nobodys) {
    expect(inSchema.get(table), table).not.toContainEqual(
      expect.stringMatching(/user_id|owner_id|email/),
    )
  }
})

test('the page names every event that the log tells about a user', () => {
  const sources = globSync('server/**/*.ts', { cwd: ROOT }).filter(
    (path) => !path.endsWith('.test.ts'),
  )
  const text = sources.map((path) => readFileSync(join(ROOT, path), 'utf8')).join('\n')
  const direct = [...text.matchAll(/logEvent\(request, '([^']+)'/g)].map(([, event = '']) => event)
  const events = new Set([...direct, 'registered', 'signed in', 'account returned'])
  expect(direct.length).toBeGreaterThan(2)
  expect(
    quoted(privacySection('The log'))
      .filter((word) => word !== 'userId')
      .sort(),
  ).toEqual([...events].sort())
})
