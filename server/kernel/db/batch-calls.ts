import { AsyncLocalStorage } from 'node:async_hooks'
import pg from 'pg'
import { errorCode, isDatabaseUnavailable } from './database-errors.ts'

/** A call that waits longer than this when the database fails a run is not put into another. */
const WAIT_MAX_MS = 500

/** A deadlock, and a lock that was not to be had in time. */
const LOCK_STATES = new Set(['40P01', '55P03'])

type Run<Item, Result> = (items: Item[], isAlone: boolean) => Promise<Result[]>

type Call<Item, Result> = PromiseWithResolvers<Result> & {
  item: Item
  since: number
  /** Bound to the first call of a run, for which the time of its queries is measured. */
  run: Run<Item, Result>
}

/**
 * Calls of one turn of the event loop, or during a run, share the next run: a crowd costs one round
 * trip and one commit. Likes of one post (which lock its row), publications and the reads of
 * signed-in users need it at 100,000 readers a day. With `failsAlone`, a run that PostgreSQL refuses
 * because of one item is repeated for each item `isAlone`; the next run does not wait for these.
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

  /** Begins the next run before the calls of this one go on: the database works while they do. */
  async #runWaiting(): Promise<void> {
    this.running = this.waiting
    this.waiting = []
    const settle = await this.#runCalls(this.running)
    this.running = []
    if (this.waiting.length === 0) return settle()
    void this.#runWaiting()
    // A query is sent some promises after its run has begun.
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
      // Nobody waits for two timeouts in a row.
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
