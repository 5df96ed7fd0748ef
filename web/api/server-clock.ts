import { createAtom } from '../browser/atom.ts'

const TICK_MS = 1000

let offsetSeconds = 0

/**
 * The server's time in whole unix seconds, updated every second while it has listeners. It is set before the first render
 * of a page that must show the time of another clock.
 */
export const clock = createAtom(Math.floor(serverNow()), startClock)

/** Sets the difference between this machine's clock and the server's from the Date header of an uncached answer. */
export function setServerClock(headers: Headers, now: number = Date.now()): void {
  const date = Date.parse(headers.get('date') ?? '')
  if (Number.isFinite(date)) offsetSeconds = (date - now) / 1000
}

/** The server's time in unix seconds, correct to about a second even where the machine's clock is hours off. */
export function serverNow(now: number = Date.now()): number {
  return now / 1000 + offsetSeconds
}

function startClock(): () => void {
  tick()
  const timer = setInterval(tick, TICK_MS)
  // Browsers slow the timers of a background page, so the time is updated as soon as the page is shown again.
  document.addEventListener('visibilitychange', tick)
  return () => {
    clearInterval(timer)
    document.removeEventListener('visibilitychange', tick)
  }
}

function tick(): void {
  clock.set(Math.floor(serverNow()))
}
