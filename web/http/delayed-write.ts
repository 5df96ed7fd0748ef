import { onHide } from '../platform/timing.ts'

export type DelayedWrite = {
  /** Sends the write, even while the page is being left. Never rejects. */
  send: () => Promise<void>
  onCancel: () => void
}

export const DELAY_MS = 10_000

let waiting: DelayedWrite | undefined
let timer: ReturnType<typeof setTimeout> | undefined
let sent: Promise<unknown> = Promise.resolve()

/** Delays a write by 10 s. Sends it at once if another write is delayed, or the page is hidden. */
export function delayWrite(write: DelayedWrite): void {
  void sendDelayed()
  waiting = write
  timer = setTimeout(sendDelayed, DELAY_MS)
}

/** Cancels the delayed write. Returns false if `write` is not delayed. */
export function cancelDelayed(write: DelayedWrite | undefined = waiting): boolean {
  if (!write || write !== waiting) return false
  clearTimeout(timer)
  waiting = undefined
  write.onCancel()
  return true
}

/** Sends the delayed write. Resolves when the server has answered it and all earlier ones. */
export function sendDelayed(): Promise<unknown> {
  clearTimeout(timer)
  if (waiting) sent = Promise.all([sent, waiting.send()])
  waiting = undefined
  return sent
}

onHide(sendDelayed)
