import { expect, test } from 'vitest'
import { NODE } from '../../server/operations/doctor/parts.ts'
import { judge, newestOf } from './native-parts.ts'

const part = { name: 'zlib', files: /z/, days: 60, releaseMonth: () => undefined, wayRound: '' }
const { days: _, ...patched } = part

test.each([
  ['fresh', 'until its days are over', part, '1.3', '2026-10'],
  ['old', 'after them', part, '1.3', '2026-09'],
  ['known', 'if npm has no newer one', { ...part, known: '1.3' }, '1.3', '2026-09'],
  ['old', 'if npm has a newer one', { ...part, known: '1.3' }, '1.2', '2026-08'],
  ['undated', 'if nobody knows its month', part, '1.3', undefined],
  ['undated', 'even if npm has no newer one', { ...part, known: '1.3' }, '1.3', undefined],
  ['fresh', 'if the system keeps it patched', patched, '1.3', undefined],
  ['undated', 'if it is a new Node', { ...part, ...NODE }, '99.0.0', NODE.releaseMonth('99.0.0')],
])('a part is %s %s', (state, _when, of, version, released) => {
  expect(judge(of, { version, released }, new Date('2026-11-26'))).toBe(state)
})

test.each([
  ['26.12.1', '26.10.0', ['24.22.3', '26.10.0', '26.12.1', '27.0.0']],
  ['18.4.0-beta.17', '18.4.0-beta.17', ['17.10.0-beta.17', '18.3.0-beta.17', '18.4.0-beta.17']],
])('%s is the newest of the major version of %s', (newest, installed, versions) => {
  expect(newestOf(versions, installed)).toBe(newest)
})
