import { QueryClient } from '@tanstack/react-query'
import { CallError, isUnanswered } from './call-error.ts'

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
  return failures < RETRIES && mayBeAnsweredNow(error) && error.code !== 'TIMEOUT'
}

/**
 * Returns the pause in milliseconds before a read is repeated that an act has made outdated and that
 * was not answered: the page shows the former state until then. Returns false for other reads.
 */
export function outdatedPause(state: { isInvalidated: boolean; error: unknown }): number | false {
  return state.isInvalidated && mayBeAnsweredNow(state.error) && OUTDATED_PAUSE_MS
}

function mayBeAnsweredNow(error: unknown): error is CallError {
  if (!(error instanceof CallError) || globalThis.navigator?.onLine === false) return false
  return isUnanswered(error) || error.status >= 500
}

/** Returns the pause in milliseconds. `chance` (0 to 1) lets pages retry at different times. */
export function retryPause(failures: number, error: unknown, chance: number): number {
  const longest = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (failures - 1))
  const asked = error instanceof CallError ? (error.retryAfter ?? 0) * 1000 : 0
  return Math.max(longest * (1 - chance / 2), asked)
}
