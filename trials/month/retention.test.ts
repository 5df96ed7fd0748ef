import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { privacySection, quoted } from '../../server/testing/privacy-page.ts'
import { appForTest } from '../../server/testing/test-app.ts'
import { BOUNDS, UNBOUNDED } from './retention.ts'

test('the trial of a month judges every table about people, and its conditions fit the schema', async () => {
  const rows = privacySection('Tables about people').split('\n')
  const tables = rows.flatMap((row) => (row.startsWith('| `') ? quoted(row).slice(0, 1) : []))
  const judged = new Set([...BOUNDS.map(({ table }) => table), ...UNBOUNDED])
  expect([...judged].sort()).toEqual(tables.sort())

  const app = await appForTest()
  await app.publish(await app.signUp())
  for (const { table, what, isLate } of BOUNDS) {
    const late = `SELECT 1 FROM ${table} WHERE ${isLate(`interval '3 hours'`)}`
    expect((await sql.raw(late).execute(app.db)).rows, what).toEqual([])
  }
})
