import { useQuery } from '@tanstack/react-query'
import { call } from '../../http/call.ts'

/** Reads the reasons that a report, or a removal by a moderator, can give. */
export function useReportReasons() {
  return useQuery({
    queryKey: ['report-reasons'],
    queryFn: ({ signal }) => call('GET /reports/reasons', {}, { signal }),
    staleTime: Number.POSITIVE_INFINITY,
  })
}
