import { expect, test, vi } from 'vitest'
import { ageInWords, formatOperatorTime, formatSize, waitInWords } from './words.ts'

test.each([
  [42, 'через 42 с'],
  [60, 'через 1 минуту'],
  [130, 'через 3 минуты'],
  [3540.5, 'через 1 час'],
  [7200, 'через 2 часа'],
  [8 * 3600, '23 ноября в 07:01 по Москве'],
])('a wait of %f seconds is put in words, a long one by its end', (seconds, words) => {
  vi.useFakeTimers({ now: new Date('2026-11-22T20:00:30Z') })
  expect(waitInWords(seconds)).toBe(words)
  vi.useRealTimers()
})

test.each([
  [59, 'меньше минуты'],
  [40 * 60 + 59, '40 минут'],
  [86_399, '23 часа'],
  [86_400, '1 день'],
  [5.5 * 86_400, '5 дней'],
])('something that waits for %i seconds waits «%s»', (seconds, words) => {
  expect(ageInWords(seconds)).toBe(words)
})

test.each([
  [0, '0 Б'],
  [1023, '1023 Б'],
  [12_400, '12 КиБ'],
  [2_500_000, '2,4 МиБ'],
  [25e6, '23 МиБ'],
  [32 * 1024 ** 2 - 1, '31 МиБ'],
  [1.5 * 1024 ** 3, '1,5 ГиБ'],
])('%i bytes are «%s»', (bytes, words) => {
  expect(formatSize(bytes)).toBe(words)
})

test('an operator reads times in Moscow’s', () => {
  expect(formatOperatorTime(new Date('2026-03-01T10:00:00Z'))).toBe('01.03.2026, 13:00 GMT+3')
  expect(formatOperatorTime(1_772_359_200)).toBe('01.03.2026, 13:00 GMT+3')
  expect(formatOperatorTime(null)).toBe('—')
})
