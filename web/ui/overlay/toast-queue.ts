import { createAtom } from '../../platform/atom.ts'

export type ToastTiming = { durationMs: number; pauseMs: number }

type ToastOptions = {
  /** Set if the entry's offer ends with it: then it also replaces an entry that is being read. */
  durationMs?: number
  /** Shows the entry after the one that is shown, because it answers no act of the person. */
  waits?: boolean
}

type Queued<Entry> = { entry: Entry } & ToastOptions

/**
 * Creates a queue that shows entries one at a time. The atom's value is the entry to show. An entry
 * that waits comes after a pause. Any other replaces the shown one, unless that is being read.
 */
export function createToastQueue<Entry>(timing: ToastTiming) {
  const shown = createAtom<Entry | undefined>(undefined)
  let last: Queued<Entry> | undefined
  const waiting: Queued<Entry>[] = []
  /** Ends the entry, or the pause after it. Undefined if neither lasts. */
  let timer: ReturnType<typeof setTimeout> | undefined
  let left = 0
  let endsAt = 0
  let isPaused = false

  function show(queued: Queued<Entry>): void {
    last = queued
    shown.set(queued.entry)
    schedule(queued.durationMs ?? timing.durationMs)
  }

  function schedule(ms: number): void {
    clearTimeout(timer)
    left = ms
    if (!isPaused) startTimer()
  }

  function startTimer(): void {
    isPaused = false
    endsAt = Date.now() + left
    timer = setTimeout(shown.get() === undefined ? next : dismiss, left)
  }

  function next(): void {
    timer = undefined
    const first = waiting.shift()
    if (first) show(first)
  }

  function dismiss(): void {
    if (shown.get() === undefined) return
    isPaused = false
    shown.set(undefined)
    schedule(timing.pauseMs)
  }

  return {
    push(entry: Entry, options: ToastOptions = {}): void {
      const pushed = { entry, ...options }
      if (options.waits) waiting.push(pushed)
      else if (isPaused && options.durationMs === undefined) waiting.unshift(pushed)
      else {
        // No other part of the page shows the news that it replaces.
        if (shown.get() !== undefined && last?.waits) waiting.unshift(last)
        show(pushed)
      }
      if (timer === undefined) next()
    },
    get: shown.get,
    subscribe: shown.subscribe,
    /** Stops the timer while the entry is read; resume() starts it again with the time left. */
    pause(): void {
      if (shown.get() === undefined || isPaused) return
      isPaused = true
      left = Math.max(0, endsAt - Date.now())
      clearTimeout(timer)
    },
    resume(): void {
      if (isPaused) startTimer()
    },
    dismiss,
  }
}
