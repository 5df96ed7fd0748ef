import { useQuery } from '@tanstack/react-query'
import { call } from '../../http/call.ts'
import { write } from '../../session/write.ts'

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
