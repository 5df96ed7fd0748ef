import { expect, test } from 'vitest'
import { universalTime } from './universal-time.ts'

test('a universal time spells out its month and names its zone', () => {
  expect(universalTime(Date.UTC(2026, 10, 25, 11, 7) / 1000)).toBe('25 ноября 2026, 11:07 UTC')
})
