import { RateLimiterRes } from 'rate-limiter-flexible'

type Window = { events: number; endsAt: number }

/** How many keys one limit remembers, some 150 bytes each. Past them those whose windows began first are forgotten. */
const KEYS_MAX = 50_000

/** Counts events in windows of a fixed length, in memory that does not grow with the number of keys, which strangers choose. */
export class MemoryWindows {
  readonly points: number
  readonly duration: number
  /** In the order in which they began. */
  readonly #windows = new Map<string, Window>()

  /** So many points in so many seconds, counted from a key's first event. */
  constructor(points: number, duration: number) {
    this.points = points
    this.duration = duration
  }

  /** Whether the next event under `key` will be refused. */
  isSpent(key: string): boolean {
    const window = this.#windows.get(key)
    return window !== undefined && window.events >= this.points && window.endsAt > performance.now()
  }

  /** Counts one event under `key`. Rejects with what the library's own limiters reject with, over the limit. */
  async consume(key: string): Promise<void> {
    const now = performance.now()
    this.#removeEnded(now)
    const window = this.#windows.get(key) ?? { events: 0, endsAt: now + this.duration * 1000 }
    if (window.events++ === 0) this.#remember(key, window)
    if (window.events > this.points) {
      throw new RateLimiterRes(0, window.endsAt - now, window.events, false)
    }
  }

  /** Takes back one event that was counted under `key`. */
  async reward(key: string): Promise<void> {
    const window = this.#windows.get(key)
    if (window && --window.events === 0) this.#windows.delete(key)
  }

  #removeEnded(now: number): void {
    for (const [key, { endsAt }] of this.#windows) {
      if (endsAt > now) return
      this.#windows.delete(key)
    }
  }

  #remember(key: string, window: Window): void {
    this.#windows.set(key, window)
    const [oldest] = this.#windows.keys()
    if (this.#windows.size > KEYS_MAX && oldest !== undefined) this.#windows.delete(oldest)
  }
}
