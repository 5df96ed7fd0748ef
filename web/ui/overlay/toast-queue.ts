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
  let waiting: Waiting<Entry>[] = []
  const shown = createAtom<Entry | undefined>(undefined)
  const timer = createPausableTimer()
  let shownAbout: readonly string[] = []
  let isBetweenEntries = false

  function next(): void {
    isBetweenEntries = false
    const first = waiting.shift()
    if (first) show(first)
  }

  function show({ entry, durationMs, about }: Waiting<Entry>): void {
    isBetweenEntries = false
    shownAbout = about
    shown.set(entry)
    timer.start(durationMs, finish)
  }

  function finish(): void {
    isBetweenEntries = true
    shownAbout = []
    shown.set(undefined)
    timer.resume()
    timer.start(timing.pauseMs, next)
  }

  return {
    push(entry: Entry, options: ToastOptions = {}): void {
      const { durationMs = timing.durationMs, atOnce = false, about = [] } = options
      const isSame = (other: readonly string[]) => other.some((thing) => about.includes(thing))
      const last = { entry, durationMs, about }
      const index = waiting.findIndex((other) => isSame(other.about))
      waiting = waiting.filter((other) => !isSame(other.about))
      if (atOnce || isSame(shownAbout)) show(last)
      else {
        waiting.splice(index < 0 ? waiting.length : index, 0, last)
        if (shown.get() === undefined && !isBetweenEntries) next()
      }
    },
    get: shown.get,
    subscribe: shown.subscribe,
    /** Stops the timer while the entry is read; resume() starts it again with the time left. */
    pause(): void {
      if (shown.get() !== undefined) timer.pause()
    },
    resume: timer.resume,
    dismiss(): void {
      if (shown.get() !== undefined) finish()
    },
  }
}

/** Creates a timer. If it is started while it is paused, it waits for resume(). */
function createPausableTimer() {
  let timer: ReturnType<typeof setTimeout> | undefined
  let action: () => void
  let endsAt = 0
  let left = 0
  let isPaused = false

  function run(): void {
    isPaused = false
    endsAt = Date.now() + left
    timer = setTimeout(action, left)
  }

  return {
    start(ms: number, then: () => void) {
      clearTimeout(timer)
      left = ms
      action = then
      if (!isPaused) run()
    },
    pause() {
      if (isPaused) return
      isPaused = true
      left = Math.max(0, endsAt - Date.now())
      clearTimeout(timer)
    },
    resume() {
      if (isPaused) run()
    },
  }
}
