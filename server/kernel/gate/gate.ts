import { AppError } from '../errors/app-error.ts'

type Bounds = {
  running: number
  each: number
  waiting: number
  waitMs: number
  message?: string
  retryAfter: number
}
type Waiting = { network: string; resolve: (slot: Slot | null) => void }
type Wait = { isFirst?: boolean; signal?: AbortSignal }

/** The right of one task to run. */
export class Slot {
  #onRelease: (() => void) | undefined

  constructor(onRelease: () => void) {
    this.#onRelease = onRelease
  }

  /** Lets another task run. Further calls do nothing. */
  release(): void {
    this.#onRelease?.()
    this.#onRelease = undefined
  }
}

/** Limits how many tasks run at once, per network and in total. Others wait, or are refused. */
export class Gate {
  readonly #bounds: Bounds
  #free: number
  #runningOf = new Map<string, number>()
  #waitingOf = new Map<string, number>()
  /** Waiting tasks in the order of arrival. All tasks of `#first` precede those of `#next`. */
  readonly #first = new Set<Waiting>()
  readonly #next = new Set<Waiting>()
  /** The network of each slot that was given back in this turn of the event loop. */
  #released: string[] = []

  constructor(bounds: Partial<Bounds> & Pick<Bounds, 'running'>) {
    this.#bounds = { each: bounds.running, waiting: 0, waitMs: 0, retryAfter: 2, ...bounds }
    this.#free = bounds.running
  }

  /** Returns a slot, or null if none is free for the network. */
  tryAcquire(network = ''): Slot | null {
    if (this.#free === 0 || (this.#runningOf.get(network) ?? 0) >= this.#bounds.each) return null
    this.#free--
    count(this.#runningOf, network, 1)
    return new Slot(() => this.#release(network))
  }

  /** Resolves to a slot, or to null if none is free in time or the signal is aborted before. */
  async acquire(network = '', { isFirst = false, signal }: Wait = {}): Promise<Slot | null> {
    const slot = this.tryAcquire(network)
    if (slot || signal?.aborted || this.#isFull(network)) return slot
    const { promise, resolve } = Promise.withResolvers<Slot | null>()
    const line = isFirst ? this.#first : this.#next
    const waiting = { network, resolve }
    const giveUp = () => resolve(null)
    const timer = setTimeout(giveUp, this.#bounds.waitMs)
    signal?.addEventListener('abort', giveUp)
    line.add(waiting)
    count(this.#waitingOf, network, 1)
    try {
      return await promise
    } finally {
      clearTimeout(timer)
      line.delete(waiting)
      count(this.#waitingOf, network, -1)
    }
  }

  /** Runs a task in a slot. Throws UNAVAILABLE if none is free in time. */
  async run<T>(task: () => Promise<T>, network = ''): Promise<T> {
    const slot = await this.acquire(network)
    if (!slot) throw this.refusal()
    try {
      return await task()
    } finally {
      slot.release()
    }
  }

  refusal(): AppError {
    const { message, retryAfter } = this.#bounds
    return new AppError('UNAVAILABLE', { message, retryAfter })
  }

  /** A network gets the same share of the waiting tasks as of the running ones. */
  #isFull(network: string): boolean {
    const { running, each, waiting } = this.#bounds
    if (this.#first.size + this.#next.size >= waiting) return true
    return (this.#waitingOf.get(network) ?? 0) >= (waiting * each) / running
  }

  #release(network: string): void {
    // A slot is free in the next turn of the event loop, so that no turn begins too many tasks.
    if (this.#released.length === 0) setImmediate(() => this.#admit())
    this.#released.push(network)
  }

  #admit(): void {
    for (const network of this.#released) count(this.#runningOf, network, -1)
    this.#free += this.#released.length
    this.#released = []
    for (const line of [this.#first, this.#next]) {
      for (const waiting of line) {
        if (this.#free === 0) return
        const slot = this.tryAcquire(waiting.network)
        if (slot) waiting.resolve(slot)
      }
    }
  }
}

function count(tasksOf: Map<string, number>, network: string, change: 1 | -1): void {
  const tasks = (tasksOf.get(network) ?? 0) + change
  if (tasks > 0) tasksOf.set(network, tasks)
  else tasksOf.delete(network)
}
