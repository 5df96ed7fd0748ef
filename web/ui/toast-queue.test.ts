import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { createToastQueue } from './toast-queue.ts'

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

const timing = { durationMs: 3500, pauseMs: 700 }

test('an entry is shown at once and for its time', () => {
  const queue = createToastQueue<string>(timing)
  queue.push('a')
  expect(queue.current()).toBe('a')
  vi.advanceTimersByTime(3499)
  expect(queue.current()).toBe('a')
  vi.advanceTimersByTime(1)
  expect(queue.current()).toBeUndefined()
})

test('the next one waits for its turn and for the pause', () => {
  const queue = createToastQueue<string>(timing)
  queue.push('a')
  queue.push('b')
  vi.advanceTimersByTime(3500 + 699)
  expect(queue.current()).toBeUndefined()
  vi.advanceTimersByTime(1)
  expect(queue.current()).toBe('b')
})

test('one pushed during the pause does not jump it', () => {
  const queue = createToastQueue<string>(timing)
  queue.push('a')
  vi.advanceTimersByTime(3600)
  queue.push('b')
  expect(queue.current()).toBeUndefined()
  vi.advanceTimersByTime(600)
  expect(queue.current()).toBe('b')
})

test('one pushed after the pause comes at once', () => {
  const queue = createToastQueue<string>(timing)
  queue.push('a')
  vi.advanceTimersByTime(4200)
  queue.push('b')
  expect(queue.current()).toBe('b')
})

test('while held it stays, then only the rest of its time runs', () => {
  const queue = createToastQueue<string>(timing)
  queue.push('a')
  vi.advanceTimersByTime(3000)
  queue.hold()
  vi.advanceTimersByTime(60_000)
  expect(queue.current()).toBe('a')
  queue.resume()
  vi.advanceTimersByTime(499)
  expect(queue.current()).toBe('a')
  vi.advanceTimersByTime(1)
  expect(queue.current()).toBeUndefined()
})

test('dismissing a held one starts the pause and frees the queue', () => {
  const queue = createToastQueue<string>(timing)
  queue.push('a')
  queue.push('b')
  queue.hold()
  queue.dismiss()
  expect(queue.current()).toBeUndefined()
  vi.advanceTimersByTime(700)
  expect(queue.current()).toBe('b')
  vi.advanceTimersByTime(3500)
  expect(queue.current()).toBeUndefined()
})

test('listeners hear every change until they leave', () => {
  const queue = createToastQueue<string>(timing)
  const heard = vi.fn()
  const leave = queue.subscribe(heard)
  queue.push('a')
  vi.advanceTimersByTime(3500)
  expect(heard).toHaveBeenCalledTimes(2)
  leave()
  queue.push('b')
  vi.advanceTimersByTime(10_000)
  expect(heard).toHaveBeenCalledTimes(2)
})
