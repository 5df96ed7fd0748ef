import { STALE_HEADER, STALE_STATUS } from '../../contract/constants.ts'
import { createAtom } from '../platform/atom.ts'

const TICK_MS = 1000

/** Whether the last read of posts returned a stale, stored response. */
export const isStale = createAtom(false)

let offsetSeconds = 0

/** The server's time in unix seconds. */
export const clock = createAtom(Math.floor(serverNow()), startClock)

/**
 * Sets the time at which the server rendered the page. `ageSeconds` is the time since then if the
 * page came from the network. A stored page may be old: the server's clock shows its time or later.
 */
export function setRenderedAt(seconds: number, ageSeconds?: number): void {
  clock.set(seconds)
  const offset = seconds + (ageSeconds ?? 0) - Date.now() / 1000
  offsetSeconds = ageSeconds === undefined ? Math.max(offsetSeconds, offset) : offset
}

export function setServerClock(headers: Headers, now: number = Date.now()): void {
  const date = Date.parse(headers.get('date') ?? '')
  if (Number.isFinite(date)) offsetSeconds = (date - now) / 1000
}

export function readStaleness(headers: Headers): void {
  const stale = headers.get(STALE_HEADER)?.includes(STALE_STATUS) ?? false
  if (stale !== isStale.get()) isStale.set(stale)
}

/** Returns the server's time in unix seconds, even if this machine's clock is hours off. */
export function serverNow(now: number = Date.now()): number {
  return now / 1000 + offsetSeconds
}

function startClock(): () => void {
  tick()
  const timer = setInterval(tick, TICK_MS)
  // Browsers slow the timers of a background page.
  document.addEventListener('visibilitychange', tick)
  return () => {
    clearInterval(timer)
    document.removeEventListener('visibilitychange', tick)
  }
}

function tick(): void {
  clock.set(Math.floor(serverNow()))
}
