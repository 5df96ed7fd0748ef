import { AsyncLocalStorage } from 'node:async_hooks'
import { isDatabaseUnavailable } from './database-errors.ts'

type Waiting<Item, Result> = { item: Item; since: number } & PromiseWithResolvers<Result>

/** Calls that have waited longer than this when the database fails a run are not put into another. */
const WAIT_MAX_MS = 500

/**
 * Makes a function of one item from a function of many: the calls that arrive during a run share the next one, so that a
 * crowd costs one round trip and a lone caller waits for nobody. A run starts after each of its items arrived, and
 * resolves to their results in order, or to promises of them; when it rejects, all of its calls do. When it rejects because the database does not
 * answer, so do the calls that have waited for half a second: nobody waits for two timeouts in a row. `onIdle` is called
 * when no call is left.
 */
export function batchCalls<Item, Result>(
  run: (items: Item[]) => Promise<(Result | Promise<Result>)[]>,
  onIdle: () => void = () => {},
): (item: Item) => Promise<Result> {
  let waiting: Waiting<Item, Result>[] = []
  let isRunning = false
  let inFirstCall = AsyncLocalStorage.snapshot()

  async function work(): Promise<void> {
    isRunning = true
    while (waiting.length > 0) {
      const batch = waiting
      waiting = []
      try {
        const results = await inFirstCall(() => run(batch.map(({ item }) => item)))
        for (const [index, one] of batch.entries())
          one.resolve(results[index] as Result | Promise<Result>)
      } catch (error) {
        const late = isDatabaseUnavailable(error as Error) ? takeLate() : []
        for (const one of [...batch, ...late]) one.reject(error)
      }
    }
    isRunning = false
    onIdle()
  }

  function takeLate(): Waiting<Item, Result>[] {
    const { late = [], early = [] } = Object.groupBy(waiting, ({ since }) =>
      performance.now() - since > WAIT_MAX_MS ? 'late' : 'early',
    )
    waiting = early
    return late
  }

  return (item) => {
    // What is measured of a run, such as the time of its queries, is measured for its first call.
    if (waiting.length === 0) inFirstCall = AsyncLocalStorage.snapshot()
    const one = { item, since: performance.now(), ...Promise.withResolvers<Result>() }
    waiting.push(one)
    if (!isRunning) void work()
    return one.promise
  }
}
