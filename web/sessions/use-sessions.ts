import { type QueryClient, useQuery } from '@tanstack/react-query'
import type { Session } from '../../contract/sessions.ts'
import { call } from '../api/call.ts'

const SESSIONS = ['sessions']

/** The viewer's live sessions, read anew with every visit of the page: other devices change them. */
export function useSessions() {
  return useQuery({
    queryKey: SESSIONS,
    queryFn: async ({ signal }) => (await call('GET /sessions', {}, { signal })).sessions,
    staleTime: 0,
  })
}

/** Takes sessions out of the list at once: those that `stays` is false for. */
export function dropSessions(client: QueryClient, stays: (session: Session) => boolean): void {
  client.setQueryData<Session[]>(SESSIONS, (sessions) => sessions?.filter(stays))
}
