import { expect, test } from 'vitest'
import { codeDigits, emailIn, enterCode, pasteCode, withoutUnseen } from './pasted.ts'

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
  ['912 345-67-89', '912345'],
  ['+7 912 345-67-89', '791234'],
  ['привет', ''],
])('%j contains no code or several: the digits are only a guess', (text, code) => {
  expect(pasteCode('', text)).toEqual({ code, isGuess: true })
})

test('invisible characters are removed, and spaces at the ends alone', () => {
  expect(withoutUnseen(' \u200bivan petrov@ma\u2060il.ru\u3164 ')).toBe('ivan petrov@mail.ru')
})

test.each([
  ['', '654321'],
  ['', '654 321'],
  ['', ' 654-321 '],
  ['', '６５４３２１'],
  ['1', '654321'],
  ['111111', '654321'],
  ['65432', '654321'],
  ['654', '654321'],
  ['65432', '65432 1'],
])('over %j, the whole of %j is a code, which is sent', (typed, entered) => {
  expect(enterCode(typed, entered)).toEqual({ code: '654321', isGuess: false })
})

test.each([
  ['', 'Ваш код 654321'],
  ['', '654321 — код для входа'],
  ['', '6543210'],
  ['', '+654321'],
  ['', '65.43.21'],
  ['', '65-43-21'],
  ['', 'x6y5z4!3_2#1'],
  ['', '6 543 210-98-76'],
  ['6', 'tr6ub54dor321'],
  ['65', '65Код 654321'],
  ['7', '7654321'],
])('over %j, the digits of the filled %j are shown, but not sent', (typed, entered) => {
  expect(enterCode(typed, entered)).toEqual({ code: '654321', isGuess: true })
})

test('typed digits are added, anything else is left out', () => {
  let code = ''
  for (const key of 'к1 2а-34') code = enterCode(code, code + key).code
  expect(code).toBe('1234')
  expect(enterCode('1234', '123').code).toBe('123')
  expect(enterCode('1234', '7').code).toBe('7')
})
