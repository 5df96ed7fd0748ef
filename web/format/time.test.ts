import { expect, test } from 'vitest'
import { exactDay, monthAndYear } from './labels.ts'
import { countdown, exactTime, timeAgo, timeAgoInWords } from './time.ts'

const HOUR = 60 * 60
const DAY = 24 * HOUR
const WEEK = 7 * DAY
const MONTH = 30 * DAY
const YEAR = 365 * DAY

test.each([
  [-5, 'сейчас'],
  [60, '1 мин.'],
  [HOUR, '1 ч.'],
  [DAY, '1 дн.'],
  [WEEK, '1 нд.'],
  [MONTH - 1, '4 нд.'],
  [MONTH, '1 м.'],
  // Twelve months of thirty days are less than a year.
  [YEAR - 1, '11 м.'],
  [YEAR, '1 г.'],
  [5 * YEAR, '5 л.'],
  [21 * YEAR, '21 г.'],
])('an age of %d seconds is %s', (age, text) => {
  expect(timeAgo(1_700_000_000, 1_700_000_000 + age)).toBe(text)
})

test.each([
  [0, 'сейчас'],
  [60, '1 минуту назад'],
  [HOUR, '1 час назад'],
  [14 * DAY, '2 недели назад'],
  [YEAR - 1, '11 месяцев назад'],
  [5 * YEAR, '5 лет назад'],
])('an age of %d seconds is read out as «%s»', (age, text) => {
  expect(timeAgoInWords(0, age)).toBe(text)
})

test('a month follows «с» in its form, in universal time', () => {
  expect(monthAndYear(Date.UTC(2026, 10, 30, 23) / 1000)).toBe('ноября\u00a02026')
})

test.each([
  [600, '10:00'],
  [60, '1:00'],
  [0, '0:00'],
])('%d seconds read %s', (seconds, text) => {
  expect(countdown(seconds)).toBe(text)
})

test('a date has its year unless it is the current one, no «г.» before a full stop, and no line break', () => {
  const noon = new Date(2026, 4, 3, 12).getTime() / 1000
  const inYear = (year: number) => new Date(year, 11, 31, 23).getTime()
  expect(exactDay(noon, inYear(2026))).toBe('3\u00a0мая')
  expect(exactDay(noon, inYear(2027))).toBe('3\u00a0мая\u00a02026')
  expect(exactTime(noon, inYear(2026))).toMatch(/^3 мая,? (в )?12:00$/)
  expect(exactTime(noon, inYear(2025))).toMatch(/^3 мая 2026 г\.,? (в )?12:00$/)
})
