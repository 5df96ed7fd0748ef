import { createAtom } from '../../platform/atom.ts'

export type ToastTiming = { durationMs: number; pauseMs: number }

type ToastOptions = {
  durationMs?: number
  /** Shows the entry at once, because its offer soon expires. */
  atOnce?: boolean
  /** The entry's subjects: it replaces an earlier entry that shares one of them. */
  about?: readonly string[]
}

type Waiting<Entry> = { entry: Entry; durationMs: number; about: readonly string[] }

/** Creates a queue that shows entries one at a time. The atom's value is the entry to show. */
export function createToastQueue<Entry>(timing: ToastTiming) {
  const shown = createAtom<Entry | undefined>(undefined)
  let shownAbout: readonly string[] = []
  let waiting: Waiting<Entry>[] = []
  /** Ends the entry, or the pause after it. Undefined if neither lasts. */
  let timer: ReturnType<typeof setTimeout> | undefined
  let left = 0
  let endsAt = 0
  let isPaused = false

  function show({ entry, durationMs, about }: Waiting<Entry>): void {
    shownAbout = about
    shown.set(entry)
    schedule(durationMs)
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
    shownAbout = []
    shown.set(undefined)
    schedule(timing.pauseMs)
  }

  return {
    push(entry: Entry, options: ToastOptions = {}): void {
      const { durationMs = timing.durationMs, atOnce = false, about = [] } = options
      const isSame = (other: readonly string[]) => other.some((thing) => about.includes(thing))
      const last = { entry, durationMs, about }
      const index = waiting.findIndex((other) => isSame(other.about))
      waiting = waiting.filter((other) => !isSame(other.about))
      if (atOnce || isSame(shownAbout)) show(last)
      else waiting.splice(index < 0 ? waiting.length : index, 0, last)
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
