import fc from 'fast-check'
import { expect, test } from 'vitest'
import { editSecondsLeft } from '../../contract/post-rules.ts'
import { exactDay, monthAndYear } from './labels.ts'
import { countdown, exactTime, timeAgo, timeAgoInWords } from './time.ts'

const MINUTE = 60
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR
const WEEK = 7 * DAY
const MONTH = 30 * DAY
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

test.each([
  [0, 'сейчас'],
  [60, '1 минуту назад'],
  [HOUR, '1 час назад'],
  [3 * DAY, '3 дня назад'],
  [14 * DAY, '2 недели назад'],
  [YEAR - 1, '11 месяцев назад'],
  [5 * YEAR, '5 лет назад'],
])('an age of %d seconds is read out as «%s»', (age, text) => {
  expect(timeAgoInWords(0, age)).toBe(text)
})

test('a month follows «с» in its form, in universal time', () => {
  expect(monthAndYear(Date.UTC(2026, 10, 30, 23) / 1000)).toBe('ноября\u00a02026')
})

test('the text changes exactly after nextChangeIn seconds, and not a second before', () => {
  fc.assert(
    fc.property(fc.integer({ min: -100, max: 30 * YEAR }), (age) => {
      const wait = nextChangeIn(age)
      expect(wait).toBeGreaterThan(0)
      expect(timeAgo(0, age + wait)).not.toBe(timeAgo(0, age))
      expect(timeAgo(0, age + wait - 1)).toBe(timeAgo(0, age))
    }),
  )
})

/** Seconds until the text for `age` must change, computed from the rules; always above zero. */
function nextChangeIn(age: number): number {
  if (age < MINUTE) return MINUTE - age
  if (age < HOUR) return nextMultiple(age, MINUTE) - age
  if (age < DAY) return nextMultiple(age, HOUR) - age
  if (age < WEEK) return nextMultiple(age, DAY) - age
  if (age < MONTH) return Math.min(nextMultiple(age, WEEK), MONTH) - age
  if (age >= YEAR) return nextMultiple(age, YEAR) - age
  // Twelve months of thirty days are less than a year: its last days still count as eleven months.
  return (age >= 11 * MONTH ? YEAR : nextMultiple(age, MONTH)) - age
}

function nextMultiple(age: number, size: number): number {
  return (Math.floor(age / size) + 1) * size
}

test.each([
  [600, '10:00'],
  [125, '2:05'],
  [60, '1:00'],
  [9, '0:09'],
  [0, '0:00'],
])('%d seconds read %s', (seconds, text) => {
  expect(countdown(seconds)).toBe(text)
})

test('the countdown starts full, reaches zero with the period and stays there', () => {
  const post = { created_at: 1000 }
  expect(countdown(editSecondsLeft(post, 1000, 600))).toBe('10:00')
  expect(countdown(editSecondsLeft(post, 1599, 600))).toBe('0:01')
  expect(countdown(editSecondsLeft(post, 1600, 600))).toBe('0:00')
  expect(countdown(editSecondsLeft(post, 9999, 600))).toBe('0:00')
})

test('a date has its year unless it is the current one, no «г.» before a full stop, and no line break', () => {
  const noon = new Date(2026, 4, 3, 12).getTime() / 1000
  const inYear = (year: number) => new Date(year, 11, 31, 23).getTime()
  expect(exactDay(noon, inYear(2026))).toBe('3\u00a0мая')
  expect(exactDay(noon, inYear(2027))).toBe('3\u00a0мая\u00a02026')
  expect(exactTime(noon, inYear(2026))).toMatch(/^3 мая,? (в )?12:00$/)
  expect(exactTime(noon, inYear(2025))).toMatch(/^3 мая 2026 г\.,? (в )?12:00$/)
})
