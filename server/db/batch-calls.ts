import { isDatabaseUnavailable } from './database-errors.ts'

type Waiting<Item, Result> = { item: Item; since: number } & PromiseWithResolvers<Result>

/** Whoever has waited for a run longer than this when the database fails it does not wait for another. */
const WAIT_MAX_MS = 500

/**
 * Makes a function of one item from one of many: the items that come while a run is at work share the next one, so that
 * a crowd costs one round trip and a lone caller waits for nobody. `run` starts after each of its items came, and gives
 * their results in order; when it fails, so do all of them. Where a database that does not answer fails it, so do those that
 * have waited for half a second: nobody waits for two timeouts in a row. `onIdle` hears when nothing is left to do.
 */
export function batchCalls<Item, Result>(
  run: (items: Item[]) => Promise<Result[]>,
  onIdle: () => void = () => {},
): (item: Item) => Promise<Result> {
  let waiting: Waiting<Item, Result>[] = []
  let isAtWork = false

  async function work(): Promise<void> {
    isAtWork = true
    while (waiting.length > 0) {
      const batch = waiting
      waiting = []
      try {
        const results = await run(batch.map(({ item }) => item))
        for (const [index, one] of batch.entries()) one.resolve(results[index] as Result)
      } catch (error) {
        const late = isDatabaseUnavailable(error as Error) ? takeLate() : []
        for (const one of [...batch, ...late]) one.reject(error)
      }
    }
    isAtWork = false
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
    const one = { item, since: performance.now(), ...Promise.withResolvers<Result>() }
    waiting.push(one)
    if (!isAtWork) void work()
    return one.promise
  }
}
