import { createAtom, type ReadableAtom } from '../browser/atom.ts'

export type ToastTiming = { durationMs: number; pauseMs: number }

/** Entries that are shown one at a time. As an atom it holds the entry to show now, or undefined. */
export type ToastQueue<Entry> = ReadableAtom<Entry | undefined> & {
  push: (entry: Entry) => void
  /** Stops the timer of the shown entry while it is being read; resume() starts it again with the time left. */
  hold: () => void
  resume: () => void
  /** Removes the shown entry at once. */
  dismiss: () => void
}

/** A queue that shows each entry for `durationMs` and the next one `pauseMs` later. */
export function createToastQueue<Entry>({ durationMs, pauseMs }: ToastTiming): ToastQueue<Entry> {
  const waiting: Entry[] = []
  const shown = createAtom<Entry | undefined>(undefined)
  let timer: ReturnType<typeof setTimeout> | undefined
  let endsAt = 0
  let left = 0
  let pausing = false
  let held = false

  function next(): void {
    pausing = false
    const entry = waiting.shift()
    if (entry === undefined) return
    left = durationMs
    shown.set(entry)
    run()
  }

  function run(): void {
    held = false
    endsAt = Date.now() + left
    timer = setTimeout(finish, left)
  }

  function finish(): void {
    clearTimeout(timer)
    held = false
    pausing = true
    shown.set(undefined)
    timer = setTimeout(next, pauseMs)
  }

  return {
    push(entry) {
      waiting.push(entry)
      if (shown.get() === undefined && !pausing) next()
    },
    get: shown.get,
    subscribe: shown.subscribe,
    hold() {
      if (shown.get() === undefined || held) return
      held = true
      left = Math.max(0, endsAt - Date.now())
      clearTimeout(timer)
    },
    resume() {
      if (held) run()
    },
    dismiss() {
      if (shown.get() !== undefined) finish()
    },
  }
}
