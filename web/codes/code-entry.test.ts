import { expect, test } from 'vitest'
import { CallError, noAnswer } from '../http/call-error.ts'
import { codeLife } from './code-entry.tsx'

function refusal(code: CallError['code'], retryAfter?: number): CallError {
  const wait = retryAfter === undefined ? {} : { retryAfter }
  return new CallError({ code, message: 'Сообщение', status: 400, ...wait })
}

test('a code is good until the server refuses it finally', () => {
  expect(codeLife(null)).toBe('good')
  expect(codeLife(noAnswer('OFFLINE'))).toBe('good')
  expect(codeLife(refusal('INVALID_CONFIRM_CODE'))).toBe('good')
  expect(codeLife(refusal('OPERATION_EXPIRED'))).toBe('expired')
})

test('a limit does not lock the code', () => {
  const limit = {
    code: 'TOO_MANY_REQUESTS',
    message: 'Часто',
    status: 429,
    retryAfter: 60,
  } as const
  expect(codeLife(new CallError(limit))).toBe('good')
})

test('a refused code is locked while the server names the wait for the next one', () => {
  expect(codeLife(refusal('INVALID_CONFIRM_CODE', 500))).toBe('locked')
  expect(codeLife(refusal('MAX_CONFIRM_ATTEMPTS', 500))).toBe('locked')
})
