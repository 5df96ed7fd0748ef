import { AsyncLocalStorage } from 'node:async_hooks'

/** How long the queries of some work took in all, in ms. Queries that ran side by side count each. */
export type QueryTime = { ms: number }

const current = new AsyncLocalStorage<QueryTime>()

/** Runs work so that the queries it starts are added to `time`. Of a query that several calls share, the first call has it all. */
export function addQueryTime<T>(time: QueryTime, work: () => T): T {
  return current.run(time, work)
}

/** Starts to measure a query of the current work. Returns the function to call at its end; undefined where nobody measures. */
export function measureQuery(): (() => void) | undefined {
  const time = current.getStore()
  if (!time) return undefined
  const since = performance.now()
  return () => {
    time.ms += performance.now() - since
  }
}
