import { expect, test } from 'vitest'
import { codeDigits, pasteCode } from './code-input.tsx'

test.each([
  ['123 456', '123456'],
  ['Ваш код: 12-34-56.', '123456'],
  ['1234567', '123456'],
  ['12a', '12'],
  ['１２３４５６', '123456'],
  ['код', ''],
])('%s becomes %s', (text, digits) => {
  expect(codeDigits(text, 6)).toBe(digits)
})

test('a whole pasted code replaces what was typed', () => {
  expect(pasteCode('111111', '654 321', 6)).toBe('654321')
})

test('a part of a code is appended', () => {
  expect(pasteCode('12', '34', 6)).toBe('1234')
  expect(pasteCode('1234', '567', 6)).toBe('123456')
})

test('a paste without digits changes nothing', () => {
  expect(pasteCode('12', 'привет', 6)).toBe('12')
})
