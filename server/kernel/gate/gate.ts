import { AsyncLocalStorage } from 'node:async_hooks'
import { AppError } from '../errors/app-error.ts'

type Bounds = {
  running: number
  /** Of one network; all of them unless set. */
  each?: number
  /** How many more may wait, and for how many milliseconds. */
  waiting?: number
  waitMs?: number
  /** What the caller of a refused task reads, and after how many seconds to try again. */
  message?: string
  retryAfter?: number
}
/** Frees the slot; only the first call counts. */
export type Leave = () => void
type Waiting = { network: string; since: number; settle: (leave: Leave | null) => void }
type Asked = { network?: string; isFirst?: boolean }

const RETRY_SECONDS = 2

/** Bounds how much runs at once, of one network and in total. The others wait, or are refused. */
export class Gate {
  readonly #bounds: Required<Pick<Bounds, 'running' | 'each' | 'waiting' | 'waitMs'>>
  readonly #refusal: { message?: string; retryAfter: number }
  #free: number
  #runningOf = new Map<string, number>()
  /** In the order of arrival; those in `first` go before all others. */
  readonly #first = new Set<Waiting>()
  readonly #next = new Set<Waiting>()
  #ended: string[] = []
  #timer: NodeJS.Timeout | undefined

  constructor({ message, retryAfter = RETRY_SECONDS, ...bounds }: Bounds) {
    this.#bounds = { each: bounds.running, waiting: 0, waitMs: 0, ...bounds }
    this.#refusal = { ...(message !== undefined && { message }), retryAfter }
    this.#free = bounds.running
  }

  /** Whether nothing more can begin now. */
  get isFull(): boolean {
    return this.#free === 0
  }

  /** Returns what frees the slot, or null if there is none now. */
  tryEnter(network = ''): Leave | null {
    const running = this.#runningOf.get(network) ?? 0
    if (this.#free === 0 || running >= this.#bounds.each) return null
    this.#free--
    this.#runningOf.set(network, running + 1)
    let isIn = true
    return () => {
      if (isIn) this.#leave(network)
      isIn = false
    }
  }

  /**
   * Calls `settle` with what frees the slot: at once, or when the caller's turn comes; or with null
   * for a refusal. Returns what gives up waiting, for a caller that has gone.
   */
  enter({ network = '', isFirst = false }: Asked, settle: Waiting['settle']): () => void {
    const { waiting, waitMs } = this.#bounds
    const leave = this.tryEnter(network)
    if (leave || this.#first.size + this.#next.size >= waiting) {
      settle(leave)
      return () => {}
    }
    const line = isFirst ? this.#first : this.#next
    const caller = { network, since: performance.now(), settle: AsyncLocalStorage.bind(settle) }
    line.add(caller)
    this.#timer ??= setTimeout(() => this.#refuseLate(), waitMs)
    return () => line.delete(caller)
  }

  /** Runs a task in its turn. Throws UNAVAILABLE for a refusal. */
  async run<T>(task: () => Promise<T>, network = ''): Promise<T> {
    const { promise, resolve } = Promise.withResolvers<Leave | null>()
    this.enter({ network }, resolve)
    const leave = await promise
    if (!leave) throw this.refusal()
    try {
      return await task()
    } finally {
      leave()
    }
  }

  refusal(): AppError {
    return new AppError('UNAVAILABLE', this.#refusal)
  }

  #leave(network: string): void {
    // Freed in the next turn of the event loop, so that no turn begins more than there are slots.
    if (this.#ended.length === 0) setImmediate(() => this.#admit())
    this.#ended.push(network)
  }

  #admit(): void {
    for (const network of this.#ended) {
      const left = (this.#runningOf.get(network) ?? 1) - 1
      if (left > 0) this.#runningOf.set(network, left)
      else this.#runningOf.delete(network)
    }
    this.#free += this.#ended.length
    this.#ended = []
    for (const line of [this.#first, this.#next]) {
      for (const caller of line) {
        if (this.#free === 0) return
        const leave = this.tryEnter(caller.network)
        if (!leave) continue
        line.delete(caller)
        caller.settle(leave)
      }
    }
  }

  #refuseLate(): void {
    this.#timer = undefined
    const { waitMs } = this.#bounds
    const now = performance.now()
    let oldest = Number.POSITIVE_INFINITY
    for (const line of [this.#first, this.#next]) {
      for (const caller of line) {
        if (caller.since + waitMs > now) {
          oldest = Math.min(oldest, caller.since)
          break
        }
        line.delete(caller)
        caller.settle(null)
      }
    }
    if (oldest === Number.POSITIVE_INFINITY) return
    this.#timer = setTimeout(() => this.#refuseLate(), oldest + waitMs - now)
  }
}
