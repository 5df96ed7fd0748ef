import { expect, test, vi } from 'vitest'
import { ERRORS } from '../../contract/errors.ts'
import { refused } from '../testing/call-errors.ts'
import { noAnswer, type ShortLimit } from './call-error.ts'
import { errorMessage, reasonOf, waitMessage } from './error-message.ts'

test('a limit is shown with the time that the server names, and its reason alone beside a countdown', () => {
  const message = 'Код на эту почту уже отправляли: следующий — через 0:45'
  const error = refused('TOO_MANY_REQUESTS', 45, message)
  expect(errorMessage(error)).toBe(message)
  expect(reasonOf(error)).toBe('Код на эту почту уже отправляли')
  expect(waitMessage(error as ShortLimit)).toBe(
    'Код на эту почту уже отправляли. Отправим через 0:45',
  )
  expect(reasonOf(refused('TOO_MANY_REQUESTS', 45))).toBe('Слишком часто')
})

test('an unexpected error is logged once, however often it is shown, and shown without its details', () => {
  const log = vi.spyOn(console, 'error').mockImplementation(() => {})
  const bug = new TypeError('x is undefined')
  expect(errorMessage(bug)).toBe(ERRORS.INTERNAL_ERROR.message)
  expect(errorMessage(bug)).toBe(ERRORS.INTERNAL_ERROR.message)
  expect(log.mock.calls).toEqual([[bug]])
})

test('a missing answer is blamed on the network only if the browser is offline', () => {
  expect(errorMessage(noAnswer('OFFLINE'))).toBe('Сервер не отвечает. Попробуйте чуть позже')
  vi.stubGlobal('navigator', { onLine: false })
  expect(noAnswer('OFFLINE').message).toBe('Нет связи. Проверьте интернет и повторите')
})
