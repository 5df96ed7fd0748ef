import { beforeEach, expect, onTestFinished, test, vi } from 'vitest'
import { createToastQueue } from './toast-queue.ts'

let queue: ReturnType<typeof createToastQueue<string>>
beforeEach(() => {
  vi.useFakeTimers()
  onTestFinished(() => void vi.useRealTimers())
  queue = createToastQueue({ durationMs: 3500, pauseMs: 700 })
})

test.each([
  ['the usual duration', undefined, 3500],
  ['its own duration', { durationMs: 10_000 }, 10_000],
])('an entry is shown at once, for %s', (_which, options, durationMs) => {
  queue.push('a', options)
  expect(queue.get()).toBe('a')
  vi.advanceTimersByTime(durationMs - 1)
  expect(queue.get()).toBe('a')
  vi.advanceTimersByTime(1)
  expect(queue.get()).toBeUndefined()
})

test.each([
  ['while another is shown', 0],
  ['during the pause', 3600],
])('an entry pushed %s is shown after the pause', (_when, afterMs) => {
  queue.push('a')
  vi.advanceTimersByTime(afterMs)
  queue.push('b')
  vi.advanceTimersByTime(3500 + 699 - afterMs)
  expect(queue.get()).toBeUndefined()
  vi.advanceTimersByTime(1)
  expect(queue.get()).toBe('b')
})

test('a paused entry stays, and after resuming only for the time left', () => {
  queue.push('a')
  vi.advanceTimersByTime(3000)
  queue.pause()
  vi.advanceTimersByTime(60_000)
  expect(queue.get()).toBe('a')
  queue.resume()
  vi.advanceTimersByTime(499)
  expect(queue.get()).toBe('a')
  vi.advanceTimersByTime(1)
  expect(queue.get()).toBeUndefined()
})

test('dismissing a paused entry starts the pause, and the next entry follows', () => {
  queue.push('a')
  queue.push('b')
  queue.pause()
  queue.dismiss()
  expect(queue.get()).toBeUndefined()
  vi.advanceTimersByTime(700)
  expect(queue.get()).toBe('b')
  vi.advanceTimersByTime(3500)
  expect(queue.get()).toBeUndefined()
})

test.each([
  ['the shown entry', 100],
  ['the pause', 3600],
])('an urgent entry replaces %s, and waiting entries follow it', (_what, afterMs) => {
  queue.push('a')
  queue.push('b')
  vi.advanceTimersByTime(afterMs)
  queue.push('now', { atOnce: true })
  expect(queue.get()).toBe('now')
  vi.advanceTimersByTime(3499)
  expect(queue.get()).toBe('now')
  vi.advanceTimersByTime(1 + 700)
  expect(queue.get()).toBe('b')
})

test('an entry about the same subject replaces the shown one at once, for its whole duration', () => {
  queue.push('draft saved', { about: ['draft'] })
  queue.push('other')
  vi.advanceTimersByTime(3000)
  queue.push('published', { about: ['posts', 'draft'] })
  expect(queue.get()).toBe('published')
  vi.advanceTimersByTime(3499)
  expect(queue.get()).toBe('published')
  vi.advanceTimersByTime(1 + 700)
  expect(queue.get()).toBe('other')
})

test('an entry about the same subject replaces a waiting one', () => {
  queue.push('a')
  queue.push('edited', { about: ['post 5'] })
  queue.push('b')
  queue.push('deleted', { about: ['post 5'] })
  const shown = [3500 + 700, 3500 + 700, 3500 + 700].map((ms) => {
    vi.advanceTimersByTime(ms)
    return queue.get()
  })
  expect(shown).toEqual(['deleted', 'b', undefined])
})

test('an entry that replaces a paused one is paused too', () => {
  queue.push('a', { about: ['post 5'] })
  queue.pause()
  queue.push('b', { about: ['post 5'] })
  vi.advanceTimersByTime(60_000)
  expect(queue.get()).toBe('b')
  queue.resume()
  vi.advanceTimersByTime(3500)
  expect(queue.get()).toBeUndefined()
})
