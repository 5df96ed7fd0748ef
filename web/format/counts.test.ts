import fc from 'fast-check'
import { expect, test } from 'vitest'
import { plural, REPLY_FORMS, shortCount } from './counts.ts'
import { postsAndReplies } from './labels.ts'

test('a noun has the form that its number requires', () => {
  const forms = [1, 11, 21, 1.5].map((n) => plural(n, REPLY_FORMS))
  expect(forms).toEqual(['ответ', 'ответов', 'ответ', 'ответа'])
})

test.each([
  [999, '999'],
  [1000, '1 тыс.'],
  [12_345, '12,3 тыс.'],
  [999_999, '999,9 тыс.'],
  [999_999_999, '999,9 млн.'],
  [7_300_000_000_000, '7,3 трлн.'],
])('%d is %s', (count, text) => {
  expect(shortCount(count)).toBe(text)
})

test.each([
  [12, 31, '12 записей, 31 ответ'],
  [1001, 2000, '1 тыс. записей, 2 тыс. ответов'],
])('%d posts and %d replies are counted in one line', (posts_count, replies_count, line) => {
  expect(postsAndReplies({ posts_count, replies_count })).toBe(line)
})

test('never shows four digits before a unit below a quadrillion', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 999_999_999_999_999 }), (count) => {
      expect(shortCount(count)).toMatch(/^\d{1,3}(,[1-9])?( (тыс|млн|млрд|трлн)\.)?$/)
    }),
  )
})
