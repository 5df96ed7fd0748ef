import { setTimeout as delay } from 'node:timers/promises'

/** Whether something comes to its end within so many milliseconds; resolves as soon as that is known. Rejects as it does. */
export async function settles(event: Promise<unknown>, withinMs: number): Promise<boolean> {
  const late = new AbortController()
  const timer = delay(withinMs, false, { signal: late.signal }).catch(() => false)
  return Promise.race([event.then(() => true), timer]).finally(() => late.abort())
}
