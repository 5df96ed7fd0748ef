import { expect, test, vi } from 'vitest'
import { formatDate, formatDay, formatTime } from './dates.ts'
import { formatUtcDateTime } from './universal-time.ts'

test('a day is the day in Moscow, with its year in a date; a time names its zone', () => {
  vi.useFakeTimers({ now: new Date('2026-12-01T12:00:00Z') })
  // In Moscow it is the next day already.
  const late = new Date('2026-12-04T21:05:00Z')
  expect(formatDay(late)).toBe('5\u00a0декабря')
  expect(formatDate(late)).toBe('5\u00a0декабря\u00a02026')
  expect(formatTime(late)).toBe('5 декабря в 00:05 по Москве')
  expect(formatTime(new Date('2027-12-04T21:05:00Z'))).toBe('5 декабря 2027 г. в 00:05 по Москве')
  expect(formatUtcDateTime(late.getTime() / 1000)).toBe('4 декабря 2026, 21:05 UTC')
})
