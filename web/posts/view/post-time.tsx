import { useSyncExternalStore } from 'react'
import { editSecondsLeft } from '../../../contract/edit-period.ts'
import { serverNow } from '../../api/server-clock.ts'
import { settings } from '../../browser/page-settings.ts'
import { exactTime, timeAgo } from '../../format/time-ago.ts'
import type { CachedPost } from '../cache/post-cache.ts'

const TICK_MS = 1000

const listeners = new Set<() => void>()
let timer: ReturnType<typeof setInterval> | undefined
let now = 0

/** How long ago a post was published, in words that stay true while the page is open; the exact date is its title. */
export function PostTime({ createdAt }: { createdAt: number }) {
  const ago = useNow((seconds) => timeAgo(createdAt, seconds))
  return (
    <time dateTime={new Date(createdAt * 1000).toISOString()} title={exactTime(createdAt)}>
      {ago}
    </time>
  )
}

/** Seconds left to edit the post, counted down by the server's clock; 0 once the period is over. */
export function useEditSeconds(post: Pick<CachedPost, 'created_at'>): number {
  return useNow((seconds) => editSecondsLeft(post, seconds, settings().editPeriodSeconds))
}

/** A countdown as minutes and seconds: 125 → '2:05'. */
export function countdown(seconds: number): string {
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`
}

/**
 * What `read` returns for the server's time in unix seconds, computed again every second while the component is shown.
 * All components share one timer, and one renders again only when what it read has changed.
 */
function useNow<T extends string | number>(read: (now: number) => T): T {
  const snapshot = () => read(now || updateNow())
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
  updateNow()
  timer = setInterval(tick, TICK_MS)
  // Browsers slow the timers of a background page, so the time is updated as soon as the page is shown again.
  document.addEventListener('visibilitychange', tick)
}

function stop(): void {
  clearInterval(timer)
  document.removeEventListener('visibilitychange', tick)
}

function tick(): void {
  updateNow()
  for (const listener of listeners) listener()
}

function updateNow(): number {
  now = Math.floor(serverNow())
  return now
}
