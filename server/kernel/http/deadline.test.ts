import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { withHandlerDeadline } from './server.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

test('work that takes longer than 8 s is UNAVAILABLE', async () => {
  const { promise, resolve } = Promise.withResolvers<string>()
  const outcome = withHandlerDeadline(promise).catch((error) => error.code)
  let isOver = false
  void outcome.then(() => {
    isOver = true
  })
  await vi.advanceTimersByTimeAsync(7999)
  expect(isOver).toBe(false)
  await vi.advanceTimersByTimeAsync(1)
  expect(await outcome).toBe('UNAVAILABLE')
  resolve('too late')
})

test('work that ends before its deadline keeps its result or its own error, and leaves no timer behind', async () => {
  expect(await withHandlerDeadline(Promise.resolve('done'))).toBe('done')
  await expect(withHandlerDeadline(Promise.reject(new Error('its own')))).rejects.toThrow('its own')
  expect(vi.getTimerCount()).toBe(0)
})
