import { type QueryClient, useQuery } from '@tanstack/react-query'
import type { Session } from '../../contract/sessions.ts'
import { call } from '../api/call.ts'

const SESSIONS = ['sessions']

/** The viewer's live sessions, read again on every visit of the page, because other devices change them. */
export function useSessions() {
  return useQuery({
    queryKey: SESSIONS,
    queryFn: async ({ signal }) => (await call('GET /sessions', {}, { signal })).sessions,
    staleTime: 0,
  })
}

/** Leaves only the sessions that `isOpen` is true for in the list, before it is read again. */
export function keepSessions(client: QueryClient, isOpen: (session: Session) => boolean): void {
  client.setQueryData<Session[]>(SESSIONS, (sessions) => sessions?.filter(isOpen))
}
