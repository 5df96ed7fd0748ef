import { expect, test } from 'vitest'
import { CallError, noAnswer } from '../../api/call-error.ts'
import { sendOnceBack } from './sending.ts'

const failure = (code: CallError['code'], status: number) =>
  new CallError({ code, status, message: code })
const AWAY = failure('UNAVAILABLE', 503)
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
  const { done, isWaiting } = sendOnceBack('key', send, soon)
  await expect.poll(isWaiting.get).toBe(true)
  await done
  expect([attempts(), isWaiting.get()]).toEqual([5, false])
})

test.each([
  ['no answer to the first attempt', noAnswer('OFFLINE')],
  ['a refusal', failure('BLOCKED', 403)],
  ['an error of the server', failure('INTERNAL_ERROR', 500)],
])('%s is told at once', async (_what, error) => {
  const { send, attempts } = service(error)
  await expect(sendOnceBack('key', send, soon).done).rejects.toBe(error)
  expect(attempts()).toBe(1)
})

test('waiting ends with the last error when the person stops it', async () => {
  const { send, attempts } = service(AWAY, AWAY)
  const { done, isWaiting, stop } = sendOnceBack('key', send, () => 3_600_000)
  await expect.poll(isWaiting.get).toBe(true)
  stop()
  await expect(done).rejects.toBe(AWAY)
  expect(attempts()).toBe(1)
})

test('who sends a text that is on its way joins it', async () => {
  const { send, attempts } = service(AWAY)
  const first = sendOnceBack('key', send, soon)
  expect(sendOnceBack('key', send, soon)).toBe(first)
  await first.done
  expect(attempts()).toBe(2)
  await sendOnceBack('key', send, soon).done
  expect(attempts()).toBe(3)
})
