import { afterEach, expect, test, vi } from 'vitest'
import { ERRORS } from '../../contract/errors.ts'
import { DeviceError } from '../session/client-token.ts'
import { CallError, noAnswer } from './call-error.ts'
import { errorMessage } from './error-message.ts'

afterEach(() => vi.restoreAllMocks())

function tooOften(retryAfter?: number, message?: string): CallError {
  const { status, message: general } = ERRORS.TOO_MANY_REQUESTS
  return new CallError({
    code: 'TOO_MANY_REQUESTS',
    status,
    message: message ?? general,
    ...(retryAfter !== undefined && { retryAfter }),
  })
}

test.each([
  [42, 'Слишком часто. Повторите через 42 с'],
  [60, 'Слишком часто. Повторите через 1 минуту'],
  [130, 'Слишком часто. Повторите через 3 минуты'],
  [3000, 'Слишком часто. Повторите через 50 минут'],
  [7200, 'Слишком часто. Повторите через 2 часа'],
])('a wait of %i seconds is put in words', (seconds, words) => {
  expect(errorMessage(tooOften(seconds))).toBe(words)
})

test('a limit that names its reason is told with it, and a long wait by its end', () => {
  vi.useFakeTimers({ now: new Date(2026, 10, 22, 20, 0, 30) })
  const limit = 'Имя можно менять трижды в сутки'
  const message = (hours: number) =>
    errorMessage(tooOften(hours * 3600, `${limit}. Попробуйте завтра`))
  expect(message(0.5)).toBe(`${limit}. Повторите через 30 минут`)
  expect(message(3)).toBe(`${limit}. Снова — сегодня в\u00a023:01`)
  expect(message(8)).toBe(`${limit}. Снова — завтра в\u00a004:01`)
  vi.useRealTimers()
})

test('messages meant for people are shown as they are', () => {
  expect(errorMessage(tooOften())).toBe(ERRORS.TOO_MANY_REQUESTS.message)
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
