import { expect, test } from 'vitest'
import { codeError, codeLife } from './code-entry.tsx'

test.each([
  [undefined, 'good'],
  ['INVALID_CONFIRM_CODE', 'good'],
  ['OFFLINE', 'good'],
  ['OPERATION_EXPIRED', 'expired'],
  ['MAX_CONFIRM_ATTEMPTS', 'locked'],
] as const)('after %s the code is %s', (errorCode, life) => {
  expect(codeLife(errorCode)).toBe(life)
})

test('after the last wrong code no other can be tried', () => {
  expect(codeLife('INVALID_CONFIRM_CODE', 1)).toBe('good')
  expect(codeLife('INVALID_CONFIRM_CODE', 0)).toBe('locked')
})

test.each([
  [undefined, ''],
  [5, '. Осталось 5 попыток'],
  [2, '. Осталось 2 попытки'],
  [1, '. Осталась 1 попытка'],
])('with %s attempts left, the error of a wrong code ends with «%s»', (left, end) => {
  const error = { code: 'INVALID_CONFIRM_CODE', message: 'Неверный код' }
  expect(codeError(error, left)).toBe(`Неверный код${end}`)
})

test('after the last wrong code the error is that of too many', () => {
  const error = { code: 'INVALID_CONFIRM_CODE', message: 'Неверный код' }
  expect(codeError(error, 0)).toBe('Слишком много неверных кодов')
  expect(codeError(null, 0)).toBe('Слишком много неверных кодов')
  expect(codeError({ code: 'OFFLINE', message: 'Нет связи' }, 0)).toBe('Нет связи')
})
