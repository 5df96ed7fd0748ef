import { useQuery } from '@tanstack/react-query'
import { call } from '../../http/call.ts'

/** The reasons that a report can give, and a removal by a moderator. */
export function useReportReasons() {
  return useQuery({
    queryKey: ['report-reasons'],
    queryFn: ({ signal }) => call('GET /reports/reasons', {}, { signal }),
    staleTime: Number.POSITIVE_INFINITY,
  })
}
