import { afterEach, expect, test, vi } from 'vitest'
import { ERRORS } from '../../contract/errors.ts'
import { DeviceError } from '../session/client-token.ts'
import { CallError, noAnswer } from './call-error.ts'
import { errorMessage } from './error-message.ts'

afterEach(() => vi.restoreAllMocks())

test('messages meant for people are shown as they are', () => {
  const limit = {
    code: 'TOO_MANY_REQUESTS',
    status: 429,
    message: 'Часто. Повторите через 42 с',
  } as const
  expect(errorMessage(new CallError(limit))).toBe(limit.message)
  expect(errorMessage(noAnswer('OFFLINE'))).toBe('Сервер не отвечает. Попробуйте чуть позже')
  expect(errorMessage(new DeviceError())).toBe('Не удалось идентифицировать user-agent')
})

test('an unexpected error is logged once, however often it is shown, and shown without its details', () => {
  const log = vi.spyOn(console, 'error').mockImplementation(() => {})
  const bug = new TypeError('x is undefined')
  expect(errorMessage(bug)).toBe(ERRORS.INTERNAL_ERROR.message)
  expect(errorMessage(bug)).toBe(ERRORS.INTERNAL_ERROR.message)
  expect(log.mock.calls).toEqual([[bug]])
})

test('a missing answer is blamed on the network only where the browser knows that it is offline', () => {
  vi.stubGlobal('navigator', { onLine: false })
  expect(noAnswer('OFFLINE').message).toBe('Нет связи. Проверьте интернет и повторите')
  vi.unstubAllGlobals()
})
