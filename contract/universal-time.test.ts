import { expect, test } from 'vitest'
import { universalTime } from './universal-time.ts'

test('a time that no script has made local names its month and its zone', () => {
  expect(universalTime(Date.UTC(2026, 10, 25, 11, 7) / 1000)).toBe('25 ноября 2026, 11:07 UTC')
})
