import { expect, test } from 'vitest'
import { judge, PARTS } from './native-parts.ts'

const NOW = new Date('2026-11-26')
const part = { name: 'zlib', files: /z/, days: 60, released: () => undefined, wayRound: '' }
const judged = (version: string, released: string | undefined, more = {}) =>
  judge({ ...part, ...more }, { version, released }, NOW)

test('a part is fresh until its days are over, then old, or known if npm has no newer one', () => {
  expect(judged('1.3', '2026-10')).toBe('fresh')
  expect(judged('1.3', '2026-09')).toBe('old')
  expect(judged('1.3', '2026-09', { known: '1.3' })).toBe('known')
  expect(judged('1.2', '2026-08', { known: '1.3' })).toBe('old')
})

test('a part whose month nobody knows is undated, unless the system keeps it patched', () => {
  expect(judged('1.3', undefined)).toBe('undated')
  expect(judged('1.3', undefined, { known: '1.3' })).toBe('undated')
  const { days: _, ...kept } = part
  expect(judge(kept, { version: '1.3', released: undefined }, NOW)).toBe('fresh')
})

test('a version of Node that PARTS does not know is undated', () => {
  const node = PARTS.find(({ name }) => name === 'Node')
  if (!node) throw new Error('PARTS has no Node')
  expect(judge(node, { version: '99.0.0', released: node.released('99.0.0') }, NOW)).toBe('undated')
})
