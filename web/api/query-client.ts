import { QueryClient } from '@tanstack/react-query'
import { CallError } from './call-error.ts'

const RETRIES = 2

/** Whether a read that failed is worth another attempt: not when the server has refused it for good. */
export function worthRetrying(failures: number, error: unknown): boolean {
  if (failures >= RETRIES || !(error instanceof CallError)) return false
  return error.code === 'OFFLINE' || error.code === 'TIMEOUT' || error.status >= 500
}

/**
 * The one cache. Reads go out even where the browser believes itself offline (it is often wrong) and fail in words;
 * writes are never repeated by themselves.
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
