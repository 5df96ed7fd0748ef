import { beforeEach, expect, test, vi } from 'vitest'
import { createToastQueue } from './toast-queue.ts'

const NEWS = { waits: true }

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
])('an entry that waits, pushed %s, is shown after the pause', (_when, afterMs) => {
  queue.push('a')
  vi.advanceTimersByTime(afterMs)
  queue.push('b', NEWS)
  expect([shownAfter(3500 + 699 - afterMs), shownAfter(1)]).toEqual([undefined, 'b'])
})

test.each([
  ['the shown entry', 100],
  ['the pause', 3600],
])('the entry of an act replaces %s, for its whole duration', (_what, afterMs) => {
  queue.push('a')
  queue.push('news', NEWS)
  vi.advanceTimersByTime(afterMs)
  queue.push('b')
  expect([queue.get(), shownAfter(3499), shownAfter(1 + 700)]).toEqual(['b', 'b', 'news'])
})

test('news that an act cuts short is shown again, before later news', () => {
  queue.push('news', NEWS)
  queue.push('later', NEWS)
  vi.advanceTimersByTime(300)
  queue.push('done')
  expect(queue.get()).toBe('done')
  expect([1, 2, 3].map(() => shownAfter(3500 + 700))).toEqual(['news', 'later', undefined])
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
  queue.push('b', NEWS)
  queue.pause()
  queue.dismiss()
  expect([queue.get(), shownAfter(700), shownAfter(3500)]).toEqual([undefined, 'b', undefined])
})

test('the entry of an act follows one that is being read, before all that waits', () => {
  queue.push('a')
  queue.push('news', NEWS)
  queue.pause()
  queue.push('b')
  expect(shownAfter(60_000)).toBe('a')
  queue.resume()
  expect([shownAfter(3500 + 700), shownAfter(3500 + 700)]).toEqual(['b', 'news'])
})

test('an entry whose offer expires replaces one that is being read, and is paused too', () => {
  queue.push('a')
  queue.pause()
  queue.push('b', { durationMs: 5000 })
  expect(shownAfter(60_000)).toBe('b')
  queue.resume()
  expect(shownAfter(5000)).toBeUndefined()
})
