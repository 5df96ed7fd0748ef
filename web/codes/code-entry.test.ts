import { expect, test } from 'vitest'
import { noAnswer } from '../http/call-error.ts'
import { refused } from '../testing/call-errors.ts'
import { codeLife } from './code-entry.tsx'

test.each([
  ['good until the server refuses it', null, 'good'],
  ['good if the server does not answer', noAnswer('OFFLINE'), 'good'],
  ['good after a wrong attempt', refused('INVALID_CONFIRM_CODE'), 'good'],
  ['good during a limit', refused('TOO_MANY_REQUESTS', 60), 'good'],
  ['expired', refused('OPERATION_EXPIRED'), 'expired'],
  ['locked while the next attempt has to wait', refused('INVALID_CONFIRM_CODE', 500), 'locked'],
  ['locked while the next code has to wait', refused('MAX_CONFIRM_ATTEMPTS', 500), 'locked'],
] as const)('a code is %s', (_, error, life) => {
  expect(codeLife(error)).toBe(life)
})
