import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'

const ROOT = join(import.meta.dirname, '..')

test('the page about scaling says of each table, once, how it would be spread over shards', () => {
  const types = ['tables', 'moderation-tables']
    .map((name) => readFileSync(join(ROOT, `server/db/${name}.ts`), 'utf8'))
    .join('')
  const tables = [...types.matchAll(/^ {2}(\w+): \{/gm)].map(([, name]) => name)
  const page = readFileSync(join(ROOT, 'docs/scaling.md'), 'utf8')
  const [, rows = ''] = /^\| Table \| Citus .*\n((?:\|.*\n)+)/m.exec(page) ?? []
  const firstCells = [...rows.matchAll(/^\| ([^|]*) \|/gm)].map(([, cell]) => cell).join(' ')
  const named = [...firstCells.matchAll(/`(\w+)`/g)].map(([, name]) => name)
  expect(tables.length).toBeGreaterThan(25)
  // The job queue is the library's.
  expect(named.filter((name) => name !== 'graphile_worker').sort()).toEqual(tables.sort())
})
