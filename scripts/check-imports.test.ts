import { describe, expect, test } from 'vitest'
import { checkImports } from './check-imports.ts'
import { build, from, HOUSE, root, verdictOn } from './imports/small-house.ts'

test('a house in order passes, and the report says how much was read', () => {
  build(HOUSE)
  const report = checkImports(root)
  expect(report.violations).toEqual([])
  expect(report).toMatchObject({ files: 20, imports: 21 })
  expect(report.counts).toMatchObject({ contract: 2, server: 10, web: 8 })
})

describe('a checker that looks at nothing does not pass', () => {
  test('an empty folder', () => {
    expect(() => checkImports(root)).toThrow('contract, server, web')
  })

  test.each(['contract', 'server', 'web'])('%s without a source', (area) => {
    build(Object.fromEntries(Object.entries(HOUSE).filter(([path]) => !path.startsWith(area))))
    expect(() => checkImports(root)).toThrow(`look at in: ${area}`)
  })

  test('sources without a single import', () => {
    build({ 'contract/a.ts': '', 'server/a.ts': '', 'web/a.ts': '' })
    expect(() => checkImports(root)).toThrow('no import')
  })
})

test('private: only the posts make a post for the wire', () => {
  const culprit = 'server/posts/counters.task.ts'
  expect(verdictOn({ [culprit]: from('./post-views.store.ts') })).toEqual([`private ${culprit}`])
})

test('schemas: the web takes values only from contract files without typebox', () => {
  const through = { 'contract/a.ts': from('./posts.ts') }
  expect(verdictOn({ ...through, 'web/lib/a.ts': from('../../contract/a.ts') })).toEqual([
    'schemas web/lib/a.ts',
  ])
})

test('schemas: an inline type import still loads the file', () => {
  const text = `import { type Post } from '../../contract/posts.ts'\nexport type A = Post`
  expect(verdictOn({ 'web/lib/a.ts': text })).toEqual(['schemas web/lib/a.ts'])
})

test('purity: ui takes only pure helpers of lib', () => {
  const impure = { 'web/ui/a.ts': from('../lib/call.ts'), 'web/ui/b.ts': from('../lib/b.ts') }
  expect(verdictOn({ ...impure, 'web/lib/b.ts': from('react') })).toEqual([
    'purity web/ui/a.ts',
    'purity web/ui/b.ts',
  ])
})

test.each([
  ['contract/a.ts', from('fastify')],
  ['contract/a.ts', `import type { Stats } from 'node:fs'\nexport type A = Stats`],
  ['web/lib/a.ts', from('typebox')],
  ['web/lib/a.ts', from('node:fs')],
  ['server/http/a.ts', from('react')],
])('package: %s with %s', (path, text) => {
  expect(new Set(verdictOn({ [path]: text }))).toEqual(new Set([`package ${path}`]))
})

test('cycle: of values, and of types alone', () => {
  const values = { 'server/db/a.ts': from('./b.ts'), 'server/db/b.ts': from('./a.ts') }
  const types = {
    'web/lib/a.ts': `import type { B } from './b.ts'\nexport type A = B`,
    'web/lib/b.ts': `import type { A } from './a.ts'\nexport type B = A`,
  }
  expect(verdictOn({ ...values, ...types })).toEqual(['cycle server/db/a.ts', 'cycle web/lib/a.ts'])
})

test.each([
  [`export * from './clamp.ts'`],
  [`import { clamp } from './clamp.ts'\nexport { clamp }`],
  [`export type { A } from './clamp.ts'`],
])('barrel: %s', (text) => {
  expect(verdictOn({ 'web/lib/a.ts': text })).toEqual(['barrel web/lib/a.ts'])
})

test('drawer: neither a file nor a folder of odds and ends', () => {
  const files = {
    'server/db/utils.ts': '',
    'web/lib/helpers/a.ts': '',
    'contract/text-utils.ts': '',
  }
  expect(verdictOn(files).sort()).toEqual(
    Object.keys(files)
      .map((path) => `drawer ${path}`)
      .sort(),
  )
})

test('place: a folder that the design does not know', () => {
  expect(verdictOn({ 'web/widgets/a.ts': '' })).toEqual(['place web/widgets/a.ts'])
})

test.each([
  ['extension', from('./clamp')],
  ['missing', from('./nothing.ts')],
  ['computed', 'export const a = (name: string) => import(name)'],
  ['computed', `export const a = import.meta.glob('../posts/*.tsx')`],
  ['syntax', 'export const = 1'],
])('%s: %s', (rule, text) => {
  expect(verdictOn({ 'web/lib/a.ts': text })).toEqual([`${rule} web/lib/a.ts`])
})
