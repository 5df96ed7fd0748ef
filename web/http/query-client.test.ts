import { expect, test, vi } from 'vitest'
import { REQUEST_TIMEOUT_MS } from '../../contract/constants.ts'
import { CallError, noAnswer } from './call-error.ts'
import { retryPause, worthRetrying } from './query-client.ts'

const unavailable = new CallError({ code: 'UNAVAILABLE', message: 'Недоступен', status: 503 })
const missing = new CallError({ code: 'POST_NOT_FOUND', message: 'Нет', status: 404 })
const tooOften = new CallError({ code: 'TOO_MANY_REQUESTS', message: 'Часто', status: 429 })

test('a read without a connection or with a server error is repeated twice', () => {
  for (const error of [noAnswer('OFFLINE'), unavailable]) {
    expect([0, 1, 2].map((failures) => worthRetrying(failures, error))).toEqual([true, true, false])
  }
})

test('a read that hangs shows its error after the request timeout of 10000 ms', () => {
  expect(REQUEST_TIMEOUT_MS).toBe(10_000)
  expect(worthRetrying(0, noAnswer('TIMEOUT'))).toBe(false)
})

test('without a network nothing is repeated', () => {
  vi.stubGlobal('navigator', { onLine: false })
  expect(worthRetrying(0, noAnswer('OFFLINE'))).toBe(false)
  vi.unstubAllGlobals()
})

test('a refusal is not repeated, nor is a bug', () => {
  for (const error of [missing, tooOften, new TypeError('undefined is not a function')]) {
    expect(worthRetrying(0, error)).toBe(false)
  }
})

test('pauses double from a second to half a minute, and stay there', () => {
  const pauses = [1, 2, 3, 4, 5, 6, 7, 100].map((n) => retryPause(n, noAnswer('OFFLINE'), 0))
  expect(pauses).toEqual([1000, 2000, 4000, 8000, 16_000, 30_000, 30_000, 30_000])
})

test('chance shortens a pause by up to half', () => {
  expect(retryPause(3, noAnswer('TIMEOUT'), 1)).toBe(2000)
})

test('a pause is at least as long as the server asks for', () => {
  const error = new CallError({
    ...{ code: 'TOO_MANY_REQUESTS', message: '', status: 429 },
    retryAfter: 42,
  })
  expect(retryPause(1, error, 1)).toBe(42_000)
})
