import { useQuery } from '@tanstack/react-query'
import { call } from '../../http/call.ts'

export const REMOVED_POSTS = ['removed-posts']

/** Reads the viewer's posts that a moderator has removed or that reports hide. */
export const readRemovedPosts = (signal?: AbortSignal) =>
  call('GET /users/current/removed-posts', {}, { signal })

export function useRemovedPosts() {
  return useQuery({
    queryKey: REMOVED_POSTS,
    queryFn: ({ signal }) => readRemovedPosts(signal),
    staleTime: 0,
  })
}

/**
 * Reads the reasons that a report, or a removal by a moderator, can give. They are everybody's: a
 * form keeps what is typed when the session ends.
 */
export function useReportReasons() {
  return useQuery({
    queryKey: ['report-reasons'],
    queryFn: ({ signal }) => call('GET /reports/reasons', {}, { signal }),
    staleTime: Number.POSITIVE_INFINITY,
    meta: { outlivesViewer: true },
  })
}
