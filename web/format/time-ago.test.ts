import fc from 'fast-check'
import { expect, test } from 'vitest'
import { exactTime, nextChangeIn, timeAgo } from './time-ago.ts'

const HOUR = 3600
const DAY = 24 * HOUR
const YEAR = 365 * DAY

test.each([
  [-5, 'сейчас'],
  [0, 'сейчас'],
  [59, 'сейчас'],
  [60, '1 мин.'],
  [5 * 60 + 59, '5 мин.'],
  [HOUR - 1, '59 мин.'],
  [3 * HOUR, '3 ч.'],
  [DAY - 1, '23 ч.'],
  [2 * DAY, '2 дн.'],
  [7 * DAY - 1, '6 дн.'],
  [7 * DAY, '1 нд.'],
  [30 * DAY - 1, '4 нд.'],
  [30 * DAY, '1 м.'],
  [120 * DAY, '4 м.'],
  [YEAR - 1, '11 м.'],
  [YEAR, '1 г.'],
  [4 * YEAR, '4 г.'],
  [5 * YEAR, '5 л.'],
  [11 * YEAR, '11 л.'],
  [20 * YEAR, '20 л.'],
  [21 * YEAR, '21 г.'],
])('an age of %d seconds is %s', (age, text) => {
  expect(timeAgo(1_700_000_000, 1_700_000_000 + age)).toBe(text)
})

test('the text changes exactly after nextChangeIn seconds, and not a second before', () => {
  fc.assert(
    fc.property(fc.integer({ min: -100, max: 30 * YEAR }), (age) => {
      const wait = nextChangeIn(0, age)
      expect(wait).toBeGreaterThan(0)
      expect(timeAgo(0, age + wait)).not.toBe(timeAgo(0, age))
      expect(timeAgo(0, age + wait - 1)).toBe(timeAgo(0, age))
    }),
  )
})

test('the exact time is a long Russian date with the time of day', () => {
  const noon = new Date(2026, 10, 20, 12, 5).getTime() / 1000
  expect(exactTime(noon)).toMatch(/^20 ноября 2026 г\.,? (в )?12:05$/)
})
