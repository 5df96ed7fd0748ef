import { expect, test } from 'vitest'
import { hiddenWordIn } from './word-match.ts'

test.each([
  ['Скоро выборы!', ['выбор'], 'выбор'],
  ['Скоро ВЫБОРЫ!', ['Выборы'], 'Выборы'],
  ['Ёлка стоит', ['елка'], 'елка'],
  ['Елка стоит', ['Ёлка'], 'Ёлка'],
  ['Новый\nгод скоро', ['новый год'], 'новый год'],
  ['«Спойлер»', ['кино', 'спойлер'], 'спойлер'],
  ['Про c++ и не только', ['c++'], 'c++'],
  ['#мем дня', ['#мем'], '#мем'],
  ['Первые и вторые', ['вторые', 'первые'], 'первые'],
  ['Перевыборы', ['выборы'], undefined],
  ['Про ccc', ['c.c'], undefined],
  ['Ничего такого', [], undefined],
] as const)('in «%s» one of %j is hidden: %s', (text, words, found) => {
  expect(hiddenWordIn(text, words)).toBe(found)
})

test('searching a long post for a hundred of the longest words takes a few milliseconds', () => {
  const words = Array.from({ length: 100 }, (_, n) => `${'а'.repeat(47)}${n}`)
  const text = 'а'.repeat(500)
  const times = Array.from({ length: 20 }, () => {
    const before = performance.now()
    expect(hiddenWordIn(text, words)).toBeUndefined()
    return performance.now() - before
  })
  // The machine may be busy with something else for a moment.
  expect(Math.min(...times)).toBeLessThan(20)
})
