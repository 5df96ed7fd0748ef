import { expect, test } from 'vitest'
import { hiddenWordIn } from './word-match.ts'

test.each([
  ['Скоро ВЫБОРЫ!', ['Выборы'], 'Выборы'],
  ['Ёлка стоит', ['елка'], 'елка'],
  ['Новый\nгод скоро', ['новый год'], 'новый год'],
  ['«Спойлер»', ['кино', 'спойлер'], 'спойлер'],
  ['Про c++ и не только', ['c++'], 'c++'],
  ['Первые и вторые', ['вторые', 'первые'], 'первые'],
  ['Перевыборы', ['выборы'], undefined],
  ['Про ccc', ['c.c'], undefined],
  ['Ничего такого', [], undefined],
] as const)('in «%s» one of %j is hidden: %s', (text, words, found) => {
  expect(hiddenWordIn(text, words)).toBe(found)
})
