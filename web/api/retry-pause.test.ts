import { expect, test } from 'vitest'
import { CallError, noAnswer } from './call-error.ts'
import { retryPause } from './retry-pause.ts'

test('pauses double from a second to half a minute, and stay there', () => {
  const pauses = [1, 2, 3, 4, 5, 6, 7, 100].map((n) => retryPause(n, noAnswer('OFFLINE'), 0))
  expect(pauses).toEqual([1000, 2000, 4000, 8000, 16_000, 30_000, 30_000, 30_000])
})

test('chance takes up to half of a pause off', () => {
  expect(retryPause(3, noAnswer('TIMEOUT'), 1)).toBe(2000)
})

test('a wait that the server asks for is kept', () => {
  const error = new CallError({
    ...{ code: 'TOO_MANY_REQUESTS', message: '', status: 429 },
    retryAfter: 42,
  })
  expect(retryPause(1, error, 1)).toBe(42_000)
})
