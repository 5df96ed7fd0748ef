import { expect, test } from 'vitest'
import { formatDate, formatDay, formatTime } from './dates.ts'

/** In Moscow it is the next day already. */
const LATE = new Date('2026-12-04T21:05:00Z')

test('a day is the day in Moscow, without a line break inside', () => {
  expect(formatDay(LATE)).toBe('5\u00a0декабря')
  expect(formatDay(LATE.getTime())).toBe('5\u00a0декабря')
})

test('a date has its year, without the letter after it and without a line break inside', () => {
  expect(formatDate(LATE)).toBe('5\u00a0декабря\u00a02026')
})

test('a time names the city of its time zone', () => {
  expect(formatTime(LATE)).toBe('5 декабря в 00:05 по Москве')
})
