/** The keys of a generation, some 100 bytes each. */
const GENERATION_MAX = 25_000

/**
 * Arrivals of many keys' next events, in seconds. Memory is bounded, because strangers choose the
 * keys: of two generations the older is forgotten when the newer is full, or after `seconds`, in
 * which all arrivals pass.
 */
export class MemoryCounts {
  #newer = new Map<string, number>()
  #older = new Map<string, number>()
  #begunAt = Number.NEGATIVE_INFINITY
  readonly #seconds: number

  constructor(seconds: number) {
    this.#seconds = seconds
  }

  arrivalOf(key: string): number {
    return this.#newer.get(key) ?? this.#older.get(key) ?? 0
  }

  set(key: string, arrival: number, now: number): void {
    if (this.#newer.size >= GENERATION_MAX || now - this.#begunAt >= this.#seconds) {
      this.#older = this.#newer
      this.#newer = new Map()
      this.#begunAt = now
    }
    this.#newer.set(key, arrival)
  }
}
