import { expect, test } from 'vitest'
import { codeLife } from './code-entry.tsx'

test.each([
  [undefined, 'good'],
  ['INVALID_CONFIRM_CODE', 'good'],
  ['OFFLINE', 'good'],
  ['OPERATION_EXPIRED', 'expired'],
  ['MAX_CONFIRM_ATTEMPTS', 'locked'],
] as const)('after %s the code is %s', (errorCode, life) => {
  expect(codeLife(errorCode)).toBe(life)
})
