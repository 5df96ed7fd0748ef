import { expect, test } from 'vitest'
import { formatDate, monthAndYear } from './labels.ts'
import { countdown, formatDateTime, timeAgo, timeAgoInWords } from './time.ts'

const HOUR = 60 * 60
const DAY = 24 * HOUR
const WEEK = 7 * DAY
const MONTH = 30 * DAY
const YEAR = 365 * DAY

test.each([
  [-5, 'сейчас', 'сейчас'],
  [60, '1 мин.', '1 минуту назад'],
  [HOUR, '1 ч.', '1 час назад'],
  [DAY, '1 дн.', '1 день назад'],
  [WEEK, '1 нд.', '1 неделю назад'],
  [MONTH - 1, '4 нд.', '4 недели назад'],
  [MONTH, '1 м.', '1 месяц назад'],
  // Twelve months of thirty days are less than a year.
  [YEAR - 1, '11 м.', '11 месяцев назад'],
  [YEAR, '1 г.', '1 год назад'],
  [5 * YEAR, '5 л.', '5 лет назад'],
  [21 * YEAR, '21 г.', '21 год назад'],
])('an age of %d seconds is %s, read out as «%s»', (age, text, words) => {
  expect(timeAgo(1_700_000_000, 1_700_000_000 + age)).toBe(text)
  expect(timeAgoInWords(1_700_000_000, 1_700_000_000 + age)).toBe(words)
})

test('a month follows «с» in its form, in universal time', () => {
  expect(monthAndYear(Date.UTC(2026, 10, 30, 23) / 1000)).toBe('ноября\u00a02026')
})

test('a countdown reads minutes and seconds', () => {
  expect([600, 60, 0].map(countdown)).toEqual(['10:00', '1:00', '0:00'])
})

test('a date has its year unless it is the current one, no «г.» before a full stop, and no line break', () => {
  const noon = new Date(2026, 4, 3, 12).getTime() / 1000
  const inYear = (year: number) => new Date(year, 11, 31, 23).getTime()
  expect(formatDate(noon, inYear(2026))).toBe('3\u00a0мая')
  expect(formatDate(noon, inYear(2027))).toBe('3\u00a0мая\u00a02026')
  expect(formatDateTime(noon, inYear(2026))).toMatch(/^3 мая,? (в )?12:00$/)
  expect(formatDateTime(noon, inYear(2025))).toMatch(/^3 мая 2026 г\.,? (в )?12:00$/)
})
