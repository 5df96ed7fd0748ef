import { QueryClient } from '@tanstack/react-query'
import { CallError } from './call-error.ts'

const RETRIES = 2
const FIRST_PAUSE_MS = 1000
const LONGEST_PAUSE_MS = 30_000
const OUTDATED_PAUSE_MS = 5000

/** Sends requests even if the browser reports that it is offline, because that is often wrong. */
export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      networkMode: 'always',
      retry: worthRetrying,
      refetchInterval: ({ state }) => outdatedPause(state),
      staleTime: 60_000,
      refetchOnWindowFocus: false,
    },
    mutations: { networkMode: 'always', retry: false },
  },
})

/** Returns whether to retry a read: false offline, because reconnecting repeats the read. */
export function worthRetrying(failures: number, error: unknown): boolean {
  if (failures >= RETRIES || !(error instanceof CallError) || error.code === 'TIMEOUT') return false
  if (globalThis.navigator?.onLine === false) return false
  return error.code === 'OFFLINE' || error.status >= 500
}

/**
 * Returns after how many milliseconds to repeat a read that an act has made outdated and that was not
 * answered, because nothing on the page would; else false.
 */
export function outdatedPause(state: { isInvalidated: boolean; error: unknown }): number | false {
  const { isInvalidated, error } = state
  const isUnanswered = error instanceof CallError && (error.status === 0 || error.status >= 500)
  return isInvalidated && isUnanswered && OUTDATED_PAUSE_MS
}

/** Returns the pause in milliseconds. `chance` (0 to 1) lets pages retry at different times. */
export function retryPause(failures: number, error: unknown, chance: number): number {
  const longest = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (failures - 1))
  const asked = error instanceof CallError ? (error.retryAfter ?? 0) * 1000 : 0
  return Math.max(longest * (1 - chance / 2), asked)
}
