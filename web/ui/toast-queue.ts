export type ToastTiming = { durationMs: number; pauseMs: number }

/** Shows entries one at a time. `current` is the one to show now; listeners hear when it changes. */
export type ToastQueue<Entry> = {
  push: (entry: Entry) => void
  current: () => Entry | undefined
  subscribe: (listener: () => void) => () => void
  /** Stops the clock of the current entry, for it is being read; resume() lets the rest of its time run. */
  hold: () => void
  resume: () => void
  /** Takes the current entry away at once. */
  dismiss: () => void
}

/** A queue where each entry stays for `durationMs` and the next comes `pauseMs` after it. */
export function createToastQueue<Entry>({ durationMs, pauseMs }: ToastTiming): ToastQueue<Entry> {
  const waiting: Entry[] = []
  const listeners = new Set<() => void>()
  let shown: Entry | undefined
  let timer: ReturnType<typeof setTimeout> | undefined
  let endsAt = 0
  let left = 0
  let pausing = false
  let held = false

  function show(entry: Entry | undefined): void {
    shown = entry
    for (const listener of listeners) listener()
  }

  function next(): void {
    pausing = false
    const entry = waiting.shift()
    if (entry === undefined) return
    left = durationMs
    show(entry)
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
    show(undefined)
    timer = setTimeout(next, pauseMs)
  }

  return {
    push(entry) {
      waiting.push(entry)
      if (shown === undefined && !pausing) next()
    },
    current: () => shown,
    subscribe(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    hold() {
      if (shown === undefined || held) return
      held = true
      left = Math.max(0, endsAt - Date.now())
      clearTimeout(timer)
    },
    resume() {
      if (held) run()
    },
    dismiss() {
      if (shown !== undefined) finish()
    },
  }
}
