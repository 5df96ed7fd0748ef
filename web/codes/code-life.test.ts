import { expect, test } from 'vitest'
import { codeLife } from './code-life.ts'

test.each([
  [undefined, 'good'],
  ['INVALID_CONFIRM_CODE', 'good'],
  ['OFFLINE', 'good'],
  ['OPERATION_EXPIRED', 'expired'],
  ['MAX_CONFIRM_ATTEMPTS', 'locked'],
] as const)('after %s the code is %s', (refusal, life) => {
  expect(codeLife(refusal)).toBe(life)
})
