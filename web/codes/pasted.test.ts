import { expect, test } from 'vitest'
import { codeDigits, emailIn, pasteCode, trimUnseen } from './pasted.ts'

test.each([
  '\u200banna@example.org',
  ' anna@example.org\u3164',
  'MAILTO:anna@example.org?subject=%D0%90',
  '<anna@example.org>',
  '"Иванова, Анна" <mailto:anna@example.org>;',
  'Анна (anna@example.org)',
  '**anna@example.org**.',
  '📧anna@example.org',
  'E-mail:anna@example.org',
  'anna@example.org <Anna@Example.org>',
])('the address in %j is anna@example.org', (text) => {
  expect(emailIn(text)).toBe('anna@example.org')
})

test.each(["o'neil@example.org", '_anna_@example.org', 'a.n+n*a@example.org', 'a?b@пример.рф'])(
  'the address %s stays as it is',
  (address) => {
    expect(emailIn(address)).toBe(address)
  },
)

test.each(['anna@example.org, boris@example.org', 'Anna', 'anna@', 'anna@example.org и то же'])(
  '%j becomes its only address, or stays as it is',
  (text) => {
    expect(['anna@example.org', text]).toContain(emailIn(text))
  },
)

test.each([
  ['123 456', '123456'],
  ['12a', '12'],
  ['１２３４５６', '123456'],
  ['٠١٢٣٤٥', '012345'],
  ['код', ''],
])('the digits of %s are %s', (text, digits) => {
  expect(codeDigits(text)).toBe(digits)
})

test.each([
  '654321',
  '654-321',
  'Ваш код: 65-43-21.',
  '654 - 321',
  '۶۵۴۳۲۱',
  '654321 — код для входа\n654321 — ваш код для входа',
  'Код 654321 (654 321)',
  '6\u200b54321',
  'Код 654321 действует 10 минут, до 25.11.2026 14:30',
])('%j contains one code, which replaces what was typed', (text) => {
  expect(pasteCode('111111', text)).toEqual({ code: '654321', isGuess: false })
})

test('a part of a code is appended', () => {
  expect(pasteCode('12', '34')).toEqual({ code: '1234', isGuess: false })
  expect(pasteCode('1234', '567')).toEqual({ code: '123456', isGuess: false })
  expect(pasteCode('123', '4 5')).toEqual({ code: '12345', isGuess: false })
})

test.each([
  ['1234567', '123456'],
  ['123 456, 654 321', '123456'],
  ['Дом 12, кв. 345, 6 этаж', '123456'],
  ['привет', ''],
])('%j contains no code or several: the digits are only a guess', (text, code) => {
  expect(pasteCode('', text)).toEqual({ code, isGuess: true })
})

test('spaces and invisible characters are removed at the ends alone', () => {
  expect(trimUnseen(' \u200bivan petrov@mail.ru\u3164 ')).toBe('ivan petrov@mail.ru')
})
