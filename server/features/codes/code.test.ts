import { expect, test } from 'vitest'
import { deriveKey, isSameSecret } from '../../kernel/config/app-secret.ts'
import { codeOf } from './codes.mail.ts'

const KEY = deriveKey('a-secret-that-only-tests-know-0123456789', 'codes')

test('an operation has the same code of six digits in every release, with leading zeros', () => {
  const codes = Array.from({ length: 2000 }, (_, index) => codeOf(`operation ${index}`, KEY))
  expect(codes.filter((code) => !/^[0-9]{6}$/.test(code))).toEqual([])
  expect(codes.some((code) => code.startsWith('0'))).toBe(true)
  expect(codes[7]).toBe('892408')
})

test('codes are spread over the whole range', () => {
  const tenths = new Set(
    Array.from({ length: 2000 }, (_, index) => codeOf(`operation ${index}`, KEY)[0]),
  )
  expect(tenths.size).toBe(10)
})

test('a code is the same as itself only', () => {
  expect(isSameSecret('012345', '012345')).toBe(true)
  expect(isSameSecret('012345', '012346')).toBe(false)
  expect(isSameSecret('12345', '012345')).toBe(false)
  expect(isSameSecret('', '012345')).toBe(false)
})
