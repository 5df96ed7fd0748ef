import { expect, onTestFinished, test, vi } from 'vitest'
import { withHandlerDeadline } from './server.ts'

test('work that takes longer than 8 s is UNAVAILABLE', async () => {
  vi.useFakeTimers()
  onTestFinished(() => void vi.useRealTimers())
  const outcome = withHandlerDeadline(new Promise(() => {})).catch((error) => error.code)
  const first = Promise.race([outcome, vi.advanceTimersByTimeAsync(7999).then(() => 'at work')])
  expect(await first).toBe('at work')
  await vi.advanceTimersByTimeAsync(1)
  expect(await outcome).toBe('UNAVAILABLE')
})
