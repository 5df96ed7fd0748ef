import { useQuery } from '@tanstack/react-query'
import { call } from '../../http/call.ts'
import { write } from '../../http/write.ts'

export const REMOVED_POSTS = ['removed-posts']

/** Reads the viewer's posts that a moderator has removed or that reports hide. */
export function useRemovedPosts() {
  return useQuery({
    queryKey: REMOVED_POSTS,
    queryFn: ({ signal }) => call('GET /users/current/removed-posts', {}, { signal }),
    staleTime: 0,
  })
}

export function useOwnReports() {
  return useQuery({
    queryKey: ['own-reports'],
    queryFn: ({ signal }) => readOwnReports(signal),
    staleTime: 0,
  })
}

export const readOwnReports = (signal?: AbortSignal) =>
  call('GET /users/current/reports', {}, { signal })

export const markReportsSeen = () => write('PUT /users/current/reports/seen', {})
