import { expect, test } from 'vitest'
import { CallError, noAnswer } from '../http/call-error.ts'
import { codeLife } from './code-entry.tsx'

function refusal(code: CallError['code'], retryAfter?: number): CallError {
  const wait = retryAfter === undefined ? {} : { retryAfter }
  const status = code === 'TOO_MANY_REQUESTS' ? 429 : 400
  return new CallError({ code, message: 'Сообщение', status, ...wait })
}

test.each([
  ['good until the server refuses it', null, 'good'],
  ['good if the server does not answer', noAnswer('OFFLINE'), 'good'],
  ['good after a wrong attempt', refusal('INVALID_CONFIRM_CODE'), 'good'],
  ['good during a limit', refusal('TOO_MANY_REQUESTS', 60), 'good'],
  ['expired', refusal('OPERATION_EXPIRED'), 'expired'],
  ['locked while the next attempt has to wait', refusal('INVALID_CONFIRM_CODE', 500), 'locked'],
  ['locked while the next code has to wait', refusal('MAX_CONFIRM_ATTEMPTS', 500), 'locked'],
] as const)('a code is %s', (_, error, life) => {
  expect(codeLife(error)).toBe(life)
})
