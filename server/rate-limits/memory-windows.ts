import { RateLimiterRes } from 'rate-limiter-flexible'

type Window = { events: number; endsAt: number }

/** How many keys one generation remembers, some 150 bytes each. A limit has two: past them the older half is forgotten. */
const GENERATION_MAX = 25_000

/**
 * Counts events in windows of a fixed length, in memory that does not grow with the number of keys, which strangers choose.
 * Whole generations of keys are forgotten: to delete the oldest keys of one large Map would take longer with each of them.
 */
export class MemoryWindows {
  readonly points: number
  readonly duration: number
  #newer = new Map<string, Window>()
  #older = new Map<string, Window>()
  /** When the newer generation began. */
  #begunAt = performance.now()

  /** So many points in so many seconds, counted from a key's first event. */
  constructor(points: number, duration: number) {
    this.points = points
    this.duration = duration
  }

  /** Whether the next event under `key` will be refused. */
  isSpent(key: string): boolean {
    return (this.#find(key, performance.now())?.events ?? 0) >= this.points
  }

  /** Counts one event under `key`. Rejects with what the library's own limiters reject with, over the limit. */
  async consume(key: string): Promise<void> {
    const now = performance.now()
    const window = this.#find(key, now) ?? this.#begin(key, now)
    window.events++
    if (window.events > this.points) {
      throw new RateLimiterRes(0, window.endsAt - now, window.events, false)
    }
  }

  /** Takes back one event that was counted under `key`. */
  async reward(key: string): Promise<void> {
    const window = this.#find(key, performance.now())
    // What was refused meanwhile does not use up what is given back.
    if (window) window.events = Math.min(window.events, this.points) - 1
  }

  #find(key: string, now: number): Window | undefined {
    const window = this.#newer.get(key) ?? this.#older.get(key)
    return window && window.endsAt > now ? window : undefined
  }

  #begin(key: string, now: number): Window {
    const length = this.duration * 1000
    // When a generation is as old as a window is long, all windows of the one before have ended.
    if (this.#newer.size >= GENERATION_MAX || now - this.#begunAt >= length) {
      this.#older = this.#newer
      this.#newer = new Map()
      this.#begunAt = now
    }
    const window = { events: 0, endsAt: now + length }
    this.#newer.set(key, window)
    return window
  }
}
