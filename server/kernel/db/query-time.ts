import { AsyncLocalStorage } from 'node:async_hooks'

/** Milliseconds of all queries of some work. Queries that ran side by side count each. */
export type QueryTime = { ms: number }

const current = new AsyncLocalStorage<QueryTime>()

/**
 * Adds the time of the queries that `work` starts to `time`. A query that calls share counts for
 * the first.
 */
export function addQueryTime<T>(time: QueryTime, work: () => T): T {
  return current.run(time, work)
}

/**
 * Starts to measure a query of the current work. Returns the function to call at its end, or
 * undefined if nobody measures.
 */
export function measureQuery(): (() => void) | undefined {
  const time = current.getStore()
  if (!time) return undefined
  const since = performance.now()
  return () => {
    time.ms += performance.now() - since
  }
}
