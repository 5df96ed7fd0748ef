type Waiting<Item, Result> = { item: Item } & PromiseWithResolvers<Result>

/**
 * Makes a function of one item from one of many: the items that come while a run is at work share the next one, so that
 * a crowd costs one round trip and a lone caller waits for nobody. `run` starts after each of its items came, and gives
 * their results in order; when it fails, so do all of them. `onIdle` hears when nothing is left to do.
 */
export function createBatch<Item, Result>(
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
        for (const one of batch) one.reject(error)
      }
    }
    isAtWork = false
    onIdle()
  }

  return (item) => {
    const one = { item, ...Promise.withResolvers<Result>() }
    waiting.push(one)
    if (!isAtWork) void work()
    return one.promise
  }
}
