import { expect, test, vi } from 'vitest'
import { refused } from '../testing/call-errors.ts'
import { noAnswer } from './call-error.ts'
import { outdatedPause, retryPause, worthRetrying } from './query-client.ts'

test.each([
  ['without an answer', noAnswer('OFFLINE'), [true, true, false]],
  ['with a server error', refused('UNAVAILABLE'), [true, true, false]],
  ['that hangs', noAnswer('TIMEOUT'), [false, false, false]],
  ['that is refused', refused('POST_NOT_FOUND'), [false, false, false]],
  ['that comes too often', refused('TOO_MANY_REQUESTS'), [false, false, false]],
  ['with a bug', new TypeError('undefined is not a function'), [false, false, false]],
])('whether a read %s is repeated after no, one and two failures', (_, error, repeated) => {
  expect([0, 1, 2].map((failures) => worthRetrying(failures, error))).toEqual(repeated)
})

test('without a network nothing is repeated', () => {
  vi.stubGlobal('navigator', { onLine: false })
  expect(worthRetrying(0, noAnswer('OFFLINE'))).toBe(false)
  expect(outdatedPause({ isInvalidated: true, error: noAnswer('OFFLINE') })).toBe(false)
})

test('pauses double from a second to half a minute, up to half of it by chance; the server may ask for more', () => {
  const pauses = [1, 2, 3, 4, 5, 6, 100].map((n) => retryPause(n, noAnswer('OFFLINE'), 0))
  expect(pauses).toEqual([1000, 2000, 4000, 8000, 16_000, 30_000, 30_000])
  expect(retryPause(3, noAnswer('TIMEOUT'), 1)).toBe(2000)
  expect(retryPause(1, refused('TOO_MANY_REQUESTS', 42), 1)).toBe(42_000)
})

test('only an outdated read that was not answered is repeated by itself', () => {
  const pauseAfter = (error: unknown, isInvalidated = true) =>
    outdatedPause({ isInvalidated, error })
  const unanswered = [noAnswer('TIMEOUT'), noAnswer('OFFLINE'), refused('UNAVAILABLE')]
  expect(unanswered.map((error) => pauseAfter(error))).toEqual([5000, 5000, 5000])
  expect(pauseAfter(refused('POST_NOT_FOUND'))).toBe(false)
  expect(pauseAfter(null)).toBe(false)
  expect(pauseAfter(noAnswer('TIMEOUT'), false)).toBe(false)
})
