import { QueryClient } from '@tanstack/react-query'
import { CallError, isUnanswered } from './call-error.ts'

const RETRIES = 2
const FIRST_PAUSE_MS = 1000
const LONGEST_PAUSE_MS = 30_000

/**
 * The cache of all reads. Reads are sent even when the browser believes itself offline, since it is often wrong, and fail
 * with a message; writes are never repeated by themselves.
 */
export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      networkMode: 'always',
      retry: worthRetrying,
      staleTime: 60_000,
      refetchOnWindowFocus: false,
    },
    mutations: { networkMode: 'always', retry: false },
  },
})

/**
 * Whether to repeat a read that failed after `failures` earlier ones: only without an answer or with a server error. Where the
 * browser is offline, the person is told at once; what shows the error reads again when the network is back.
 */
export function worthRetrying(failures: number, error: unknown): boolean {
  if (failures >= RETRIES || !(error instanceof CallError)) return false
  if (globalThis.navigator?.onLine === false) return false
  return isUnanswered(error) || error.status >= 500
}

/**
 * Milliseconds to wait after the `failures`th failure in a row: doubled each time up to half a minute, and at least what
 * the server asks for. `chance` (0 to 1) takes up to half of it off, so that pages that failed together do not return
 * together.
 */
export function retryPause(failures: number, error: unknown, chance: number): number {
  const longest = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (failures - 1))
  const asked = error instanceof CallError ? (error.retryAfter ?? 0) * 1000 : 0
  return Math.max(longest * (1 - chance / 2), asked)
}
