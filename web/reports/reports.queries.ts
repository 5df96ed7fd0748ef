import { useQuery } from '@tanstack/react-query'
import { call } from '../http/call.ts'

export function useReportReasons() {
  return useQuery({
    queryKey: ['report-reasons'],
    queryFn: ({ signal }) => call('GET /reports/reasons', {}, { signal }),
    staleTime: Number.POSITIVE_INFINITY,
  })
}

export function sendReport(postId: string, reason_id: string, comment: string) {
  const body = comment === '' ? {} : { comment }
  return call('POST /posts/:id/reports', { params: { id: postId }, query: { reason_id }, body })
}
