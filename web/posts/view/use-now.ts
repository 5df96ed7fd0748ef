import { useSyncExternalStore } from 'react'
import { serverNow } from '../../api/server-clock.ts'

const TICK_MS = 1000

const listeners = new Set<() => void>()
let timer: ReturnType<typeof setInterval> | undefined
let now = 0

/**
 * What `read` makes of the server's time in unix seconds, kept true while the component is shown. All who follow the
 * clock share one timer, and a component renders again only when what it read has changed.
 */
export function useNow<T extends string | number>(read: (now: number) => T): T {
  const snapshot = () => read(now || tellTime())
  return useSyncExternalStore(subscribe, snapshot, snapshot)
}

function subscribe(listener: () => void): () => void {
  if (listeners.size === 0) start()
  listeners.add(listener)
  return () => {
    listeners.delete(listener)
    if (listeners.size === 0) stop()
  }
}

function start(): void {
  tellTime()
  timer = setInterval(tick, TICK_MS)
  // A page in the background hardly ticks: catch up as soon as it is looked at.
  document.addEventListener('visibilitychange', tick)
}

function stop(): void {
  clearInterval(timer)
  document.removeEventListener('visibilitychange', tick)
}

function tick(): void {
  tellTime()
  for (const listener of listeners) listener()
}

function tellTime(): number {
  now = Math.floor(serverNow())
  return now
}
