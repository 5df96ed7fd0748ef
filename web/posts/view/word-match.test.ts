import { expect, test } from 'vitest'
import { OTHER_WORDS, SAME_WORDS } from '../../../contract/same-words.fixture.ts'
import { parsePostText } from '../../../contract/text.ts'
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
  ['Ничего такого', ['\u200b\u00ad', '\u2800'], undefined],
] as const)('in «%s» one of %j is hidden: %s', (text, words, found) => {
  expect(hiddenWordIn(text, words)).toBe(found)
})

test.each(SAME_WORDS)('«%s» hides a text with «%s»: %s', (word, written) => {
  for (const text of [written, `Про ${written}!`].map((it) => parsePostText(it) ?? '')) {
    expect(hiddenWordIn(text, [word])).toBe(word)
  }
  expect(hiddenWordIn(word, [parsePostText(written) ?? ''])).toBeDefined()
})

test.each(OTHER_WORDS)('«%s» hides no text with «%s»', (word, text) => {
  expect(hiddenWordIn(text, [`${word} `])).toBeUndefined()
})
