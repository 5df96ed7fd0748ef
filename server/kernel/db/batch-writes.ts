import pg from 'pg'
import { batchCalls } from './batch-calls.ts'
import { errorCode, isDatabaseUnavailable } from './database-errors.ts'

/** What a transaction resolved to for each of its writes, in order, and whether it changed any row. */
export type Written<Result> = { results: Result[]; isChanged: boolean }

type Options<Item, Result> = {
  /** Writes with different keys do not wait for each other. */
  keyOf: (item: Item) => string
  /**
   * Writes some items in one transaction. Unless it `mayWait`, others are waiting for its end, and it should rather reject
   * with 55P03 than wait long for a lock.
   */
  write: (items: Item[], mayWait: boolean) => Promise<Written<Result>>
  /** Invalidates cached reads. It is called once for each transaction that changed rows. */
  invalidate?: () => Promise<void>
}

/** SQLSTATEs of a deadlock, and of a lock that was not to be had in time: other writes may have caused it. */
const LOCK_STATES = new Set(['40P01', '55P03'])

/**
 * Makes a function of one write from a function of many: the calls with one key that arrive during a transaction share the
 * next one, so that a crowd costs one round trip and one flush of the log. Each call resolves after its commit and the
 * invalidation. Where the database refuses a transaction because of one of its writes, each is tried in a transaction of its
 * own, so that a write fails alone.
 */
export function batchWrites<Item, Result>({ keyOf, write, invalidate }: Options<Item, Result>) {
  const batches = new Map<string, (item: Item) => Promise<Result>>()

  async function run(items: Item[], mayWait: boolean): Promise<Promise<Result>[]> {
    const { results, isChanged } = await write(items, mayWait)
    // Not awaited here, so that the next transaction starts at once.
    const invalidated = isChanged ? invalidate?.() : undefined
    return results.map(async (result) => {
      await invalidated
      return result
    })
  }

  async function runTogether(items: Item[]): Promise<Promise<Result>[]> {
    try {
      return await run(items, false)
    } catch (error) {
      if (!mayBeOfOneWrite(error)) throw error
      return items.map((item) => runAlone(item))
    }
  }

  async function runAlone(item: Item): Promise<Result> {
    const [result] = await run([item], true)
    return result as Promise<Result>
  }

  return (item: Item): Promise<Result> => {
    const key = keyOf(item)
    const batch = batches.get(key) ?? batchCalls(runTogether, () => batches.delete(key))
    batches.set(key, batch)
    return batch(item)
  }
}

/** Whether PostgreSQL has rolled a transaction back for a reason that its other writes may not share. */
function mayBeOfOneWrite(error: unknown): boolean {
  if (!(error instanceof pg.DatabaseError)) return false
  return LOCK_STATES.has(errorCode(error)) || !isDatabaseUnavailable(error)
}
