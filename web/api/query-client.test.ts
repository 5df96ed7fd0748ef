import { expect, test } from 'vitest'
import { CallError, noAnswer } from './call-error.ts'
import { worthRetrying } from './query-client.ts'

const unavailable = new CallError({ code: 'UNAVAILABLE', message: 'Недоступен', status: 503 })
const missing = new CallError({ code: 'POST_NOT_FOUND', message: 'Нет', status: 404 })
const tooOften = new CallError({ code: 'TOO_MANY_REQUESTS', message: 'Часто', status: 429 })

test('a read is tried again when no answer came or the server was in trouble, twice', () => {
  for (const error of [noAnswer('OFFLINE'), noAnswer('TIMEOUT'), unavailable]) {
    expect([0, 1, 2].map((failures) => worthRetrying(failures, error))).toEqual([true, true, false])
  }
})

test('a refusal stands, and so does a mistake of the program', () => {
  for (const error of [missing, tooOften, new TypeError('undefined is not a function')]) {
    expect(worthRetrying(0, error)).toBe(false)
  }
})
