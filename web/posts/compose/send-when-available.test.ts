import { expect, onTestFinished, test, vi } from 'vitest'
import { CallError, noAnswer } from '../../http/call-error.ts'
import { sendWhenAvailable } from './send-when-available.ts'

const failure = (code: CallError['code'], status: number) =>
  new CallError({ code, status, message: code })
const AWAY = failure('UNAVAILABLE', 503)
const limit = (retryAfter: number) =>
  new CallError({ code: 'TOO_MANY_REQUESTS', status: 429, message: 'Рано', retryAfter })
const soon = () => 1

/** A service that fails with each of some errors, one an attempt, and then accepts. */
function service(...errors: Error[]) {
  let attempts = 0
  return {
    attempts: () => attempts,
    send: async () => {
      const error = errors[attempts++]
      if (error) throw error
    },
  }
}

test('a text is sent again while the service is away, also while it does not answer at all then, and once when it is back', async () => {
  const { send, attempts } = service(AWAY, AWAY, noAnswer('OFFLINE'), AWAY)
  const { done, waiting } = sendWhenAvailable('key', send, soon)
  await expect.poll(waiting.get).toMatchObject({ error: AWAY })
  await done
  expect([attempts(), waiting.get()]).toEqual([5, null])
})

test.each([
  ['a server that does not answer', noAnswer('OFFLINE')],
  ['a server that does not answer in time', noAnswer('TIMEOUT')],
  ['a limit of a minute', limit(60)],
])('a text waits for %s too', async (_what, error) => {
  const { send, attempts } = service(error)
  await sendWhenAvailable('key', send, soon).done
  expect(attempts()).toBe(2)
})

test('a text that is too early is sent again when the server allows it, and says when that is', async () => {
  vi.useFakeTimers()
  onTestFinished(() => void vi.useRealTimers())
  const { send, attempts } = service(limit(28))
  const { done, waiting } = sendWhenAvailable('key', send)
  await vi.advanceTimersByTimeAsync(27_999)
  expect(waiting.get()?.until).toBe(Date.now() + 1)
  expect(attempts()).toBe(1)
  await vi.advanceTimersByTimeAsync(1)
  await done
  expect(attempts()).toBe(2)
})

test.each([
  ['a limit of a day', limit(80_000)],
  ['a refusal', failure('BLOCKED', 403)],
  ['an error of the server', failure('INTERNAL_ERROR', 500)],
])('%s is told at once', async (_what, error) => {
  const { send, attempts } = service(error)
  await expect(sendWhenAvailable('key', send, soon).done).rejects.toBe(error)
  expect(attempts()).toBe(1)
})

test('waiting ends with the last error when the person stops it', async () => {
  const { send, attempts } = service(AWAY, AWAY)
  const { done, waiting, stop } = sendWhenAvailable('key', send, () => 3_600_000)
  await expect.poll(waiting.get).not.toBeNull()
  stop()
  await expect(done).rejects.toBe(AWAY)
  expect(attempts()).toBe(1)
})

test('who sends a text that is on its way joins it', async () => {
  const { send, attempts } = service(AWAY)
  const first = sendWhenAvailable('key', send, soon)
  expect(sendWhenAvailable('key', send, soon)).toBe(first)
  await first.done
  expect(attempts()).toBe(2)
  await sendWhenAvailable('key', send, soon).done
  expect(attempts()).toBe(3)
})

test('where the browser is offline at the first attempt, the person is told at once', async () => {
  vi.stubGlobal('navigator', { onLine: false })
  onTestFinished(() => void vi.unstubAllGlobals())
  const error = noAnswer('OFFLINE')
  await expect(sendWhenAvailable('key', service(error).send, soon).done).rejects.toBe(error)
})
