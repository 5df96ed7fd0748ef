import { AsyncLocalStorage } from 'node:async_hooks'
import pg from 'pg'
import { errorCode, isDatabaseUnavailable } from './database-errors.ts'

/**
 * A call that has waited longer than this when the database fails a run is not put into another.
 */
const WAIT_MAX_MS = 500

/** SQLSTATEs of a deadlock, and of a lock that was not to be had in time. */
const LOCK_STATES = new Set(['40P01', '55P03'])

type Options<Item> = {
  /**
   * Only items with one key share a run, and runs with different keys do not wait for each other.
   */
  keyOf?: (item: Item) => string
  /** Whether a run that PostgreSQL refuses because of one item is repeated for each item alone. */
  failsAlone?: boolean
  /**
   * Whether a call that finds no run waits for others of the same turn of the event loop. Otherwise,
   * the first of a crowd has a run of its own, for which all others wait.
   */
  gathers?: boolean
}

type Call<Item, Result> = PromiseWithResolvers<Result> & {
  item: Item
  since: number
  /** Only the first call of a run has it, because it takes microseconds to make. */
  inContext: ReturnType<typeof AsyncLocalStorage.snapshot> | undefined
}

/**
 * Makes a function of one item from `run`, which resolves to the results of many items in order:
 * calls that arrive during a run share the next one, so that a crowd costs one round trip and one
 * commit, and a lone call waits for nobody. The next run begins before the calls of the last one go
 * on, so that the database works while they do. When a run rejects, all of its calls do. When it
 * rejects because the database does not answer, so do the calls that have waited for half a second:
 * nobody waits for two timeouts in a row.
 *
 * `run` is told whether an item that shared a refused run `isAlone` now. The next run does not wait
 * for such an item, which may therefore wait for locks.
 */
export function batchCalls<Item, Result>(
  run: (items: Item[], isAlone: boolean) => Promise<Result[]>,
  { keyOf = () => '', failsAlone = false, gathers = false }: Options<Item> = {},
): (item: Item) => Promise<Result> {
  /**
   * The calls that wait for the end of the run with their key. A key without a run has no entry.
   */
  const waitingByKey = new Map<string, Call<Item, Result>[]>()

  async function runInTurn(key: string, calls: Call<Item, Result>[]): Promise<void> {
    waitingByKey.set(key, [])
    const settle = await runTogether(key, calls)
    const next = waitingByKey.get(key) ?? []
    if (next.length === 0) {
      waitingByKey.delete(key)
      settle()
      return
    }
    void runInTurn(key, next)
    // A query is sent some promises after its run has begun.
    setImmediate(settle)
  }

  function gather(key: string, first: Call<Item, Result>): void {
    const calls = [first]
    waitingByKey.set(key, calls)
    setImmediate(() => void runInTurn(key, calls))
  }

  /** Resolves at the end of the run to what tells its calls. */
  async function runTogether(key: string, calls: Call<Item, Result>[]): Promise<() => void> {
    try {
      const results = await runNow(calls, false)
      return () => {
        for (const [index, call] of calls.entries()) call.resolve(results[index] as Result)
      }
    } catch (error) {
      if (failsAlone && mayBeOfOneItem(error)) {
        return () => {
          for (const call of calls) {
            call.resolve(runNow([call], true).then(([one]) => one as Result))
          }
        }
      }
      const late = isDatabaseUnavailable(error as Error) ? takeLate(key) : []
      return () => {
        for (const call of [...calls, ...late]) call.reject(error)
      }
    }
  }

  /** What is measured of a run, such as the time of its queries, is measured for its first call. */
  async function runNow(calls: Call<Item, Result>[], isAlone: boolean): Promise<Result[]> {
    const items = calls.map(({ item }) => item)
    const inContext = calls[0]?.inContext
    return inContext ? inContext(run, items, isAlone) : run(items, isAlone)
  }

  function takeLate(key: string): Call<Item, Result>[] {
    const now = performance.now()
    const { late = [], early = [] } = Object.groupBy(waitingByKey.get(key) ?? [], ({ since }) =>
      now - since > WAIT_MAX_MS ? 'late' : 'early',
    )
    waitingByKey.set(key, early)
    return late
  }

  return (item) => {
    const key = keyOf(item)
    const waiting = waitingByKey.get(key)
    const inContext = waiting?.length ? undefined : AsyncLocalStorage.snapshot()
    const call = { item, since: performance.now(), inContext, ...Promise.withResolvers<Result>() }
    if (waiting) waiting.push(call)
    else if (gathers) gather(key, call)
    else void runInTurn(key, [call])
    return call.promise
  }
}

/** Whether PostgreSQL has refused a run for a reason that its other items may not share. */
function mayBeOfOneItem(error: unknown): boolean {
  if (!(error instanceof pg.DatabaseError)) return false
  return LOCK_STATES.has(errorCode(error)) || !isDatabaseUnavailable(error)
}
