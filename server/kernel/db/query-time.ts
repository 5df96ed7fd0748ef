import { AsyncLocalStorage } from 'node:async_hooks'

/** Milliseconds of all queries of some work. Queries that ran side by side count each. */
export type QueryTime = { ms: number }

const current = new AsyncLocalStorage<QueryTime>()

/** Adds the queries that `work` starts to `time`. A shared query counts for the first caller. */
export function addQueryTime<T>(time: QueryTime, work: () => T): T {
  return current.run(time, work)
}

/** Starts to measure a query. Returns the function to call at its end. */
export function measureQuery(): (() => void) | undefined {
  const time = current.getStore()
  if (!time) return undefined
  const since = performance.now()
  return () => {
    time.ms += performance.now() - since
  }
}
