import { AsyncLocalStorage } from 'node:async_hooks'
import pg from 'pg'
import { errorCode, isDatabaseUnavailable } from './database-errors.ts'

/** If the database fails a run, waiting calls that are older than this fail with it. */
const WAIT_MAX_MS = 500

/** The SQLSTATEs of a deadlock and of a lock timeout. */
const LOCK_STATES = new Set(['40P01', '55P03'])

type Run<Item, Result> = (items: Item[], isAlone: boolean) => Promise<Result[]>

type Call<Item, Result> = PromiseWithResolvers<Result> & {
  item: Item
  since: number
  /** Bound to the context of a run's first call, to which the time of the queries is added. */
  run: Run<Item, Result>
}

/**
 * Calls of one turn of the event loop, and calls made during a run, share the next run. If it fails
 * because of one item, `failsAlone` repeats it for each item `isAlone`, beside the next runs.
 */
export class BatchedCalls<Item, Result> {
  running: Call<Item, Result>[] = []
  waiting: Call<Item, Result>[] = []
  readonly #run: Run<Item, Result>
  readonly #failsAlone: boolean

  constructor(run: Run<Item, Result>, { failsAlone = false } = {}) {
    this.#run = run
    this.#failsAlone = failsAlone
  }

  call(item: Item): Promise<Result> {
    const isFirst = this.waiting.length === 0
    const run = isFirst ? AsyncLocalStorage.bind(this.#run) : this.#run
    const call = { item, since: performance.now(), run, ...Promise.withResolvers<Result>() }
    this.waiting.push(call)
    if (isFirst && this.running.length === 0) setImmediate(() => void this.#runWaiting())
    return call.promise
  }

  isIdle(): boolean {
    return this.running.length === 0 && this.waiting.length === 0
  }

  /** Begins the next run before it settles the calls of this one, so that the database works on. */
  async #runWaiting(): Promise<void> {
    this.running = this.waiting
    this.waiting = []
    const settle = await this.#runCalls(this.running)
    this.running = []
    if (this.waiting.length === 0) return settle()
    void this.#runWaiting()
    // The next run sends its query only after some microtasks.
    setImmediate(settle)
  }

  async #runCalls(calls: Call<Item, Result>[]): Promise<() => void> {
    try {
      const { run = this.#run } = calls[0] ?? {}
      const items = calls.map(({ item }) => item)
      const results = await run(items, false)
      return () => calls.forEach((call, n) => void call.resolve(results[n] as Result))
    } catch (error) {
      if (this.#failsAlone && mayBeOfOneItem(error)) {
        const alone = ({ item, run }: Call<Item, Result>) =>
          run([item], true).then(([result]) => result as Result)
        return () => calls.forEach((call) => void call.resolve(alone(call)))
      }
      // No call should wait for two timeouts in a row.
      const late = isDatabaseUnavailable(error as Error) ? this.#takeLate() : []
      return () => [...calls, ...late].forEach((call) => void call.reject(error))
    }
  }

  #takeLate(): Call<Item, Result>[] {
    const isLate = ({ since }: Call<Item, Result>) => performance.now() - since > WAIT_MAX_MS
    const late = this.waiting.filter(isLate)
    this.waiting = this.waiting.filter((call) => !late.includes(call))
    return late
  }
}

function mayBeOfOneItem(error: unknown): boolean {
  if (!(error instanceof pg.DatabaseError)) return false
  return LOCK_STATES.has(errorCode(error)) || !isDatabaseUnavailable(error)
}
