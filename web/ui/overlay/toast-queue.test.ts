import { beforeEach, expect, test, vi } from 'vitest'
import { createToastQueue } from './toast-queue.ts'

let queue: ReturnType<typeof createToastQueue<string>>
beforeEach(() => {
  vi.useFakeTimers()
  queue = createToastQueue({ durationMs: 3500, pauseMs: 700 })
})

/** Lets time pass, and returns the entry that is then shown. */
function shownAfter(ms: number): string | undefined {
  vi.advanceTimersByTime(ms)
  return queue.get()
}

test.each([
  ['the usual duration', undefined, 3500],
  ['its own duration', { durationMs: 10_000 }, 10_000],
])('an entry is shown at once, for %s', (_which, options, durationMs) => {
  queue.push('a', options)
  expect([queue.get(), shownAfter(durationMs - 1), shownAfter(1)]).toEqual(['a', 'a', undefined])
})

test.each([
  ['while another is shown', 0],
  ['during the pause', 3600],
])('an entry pushed %s is shown after the pause', (_when, afterMs) => {
  queue.push('a')
  vi.advanceTimersByTime(afterMs)
  queue.push('b')
  expect([shownAfter(3500 + 699 - afterMs), shownAfter(1)]).toEqual([undefined, 'b'])
})

test('a paused entry stays, and after resuming only for the time left', () => {
  queue.push('a')
  vi.advanceTimersByTime(3000)
  queue.pause()
  expect(shownAfter(60_000)).toBe('a')
  queue.resume()
  expect([shownAfter(499), shownAfter(1)]).toEqual(['a', undefined])
})

test('dismissing a paused entry starts the pause, and the next entry follows', () => {
  queue.push('a')
  queue.push('b')
  queue.pause()
  queue.dismiss()
  expect([queue.get(), shownAfter(700), shownAfter(3500)]).toEqual([undefined, 'b', undefined])
})

test.each([
  ['the shown entry', 100],
  ['the pause', 3600],
])('an urgent entry replaces %s, and waiting entries follow it', (_what, afterMs) => {
  queue.push('a')
  queue.push('b')
  vi.advanceTimersByTime(afterMs)
  queue.push('now', { atOnce: true })
  expect([queue.get(), shownAfter(3499), shownAfter(1 + 700)]).toEqual(['now', 'now', 'b'])
})

test('an entry about the same subject replaces the shown one at once, for its whole duration', () => {
  queue.push('draft saved', { about: ['draft'] })
  queue.push('other')
  vi.advanceTimersByTime(3000)
  queue.push('sent', { about: ['posts', 'draft'] })
  expect([queue.get(), shownAfter(3499), shownAfter(1 + 700)]).toEqual(['sent', 'sent', 'other'])
})

test('an entry about the same subject replaces a waiting one', () => {
  queue.push('a')
  queue.push('edited', { about: ['post 5'] })
  queue.push('b')
  queue.push('deleted', { about: ['post 5'] })
  expect([1, 2, 3].map(() => shownAfter(3500 + 700))).toEqual(['deleted', 'b', undefined])
})

test('an entry that replaces a paused one is paused too', () => {
  queue.push('a', { about: ['post 5'] })
  queue.pause()
  queue.push('b', { about: ['post 5'] })
  expect(shownAfter(60_000)).toBe('b')
  queue.resume()
  expect(shownAfter(3500)).toBeUndefined()
})
