import { type QueryClient, useQuery } from '@tanstack/react-query'
import type { Session } from '../../contract/sessions.ts'
import { call } from '../http/call.ts'
import { CallError } from '../http/call-error.ts'
import { errorMessage } from '../http/error-message.ts'
import { write } from '../http/write.ts'

const SESSIONS = ['sessions']

/** Other devices change the sessions, so each opening of the page reads them again. */
export function useSessions() {
  return useQuery({
    queryKey: SESSIONS,
    queryFn: async ({ signal }) => (await call('GET /sessions', {}, { signal })).sessions,
    staleTime: 0,
  })
}

/** Removes sessions from the list before it is read again. */
export function keepSessions(client: QueryClient, isOpen: (session: Session) => boolean): void {
  client.setQueryData<Session[]>(SESSIONS, (sessions) => sessions?.filter(isOpen))
}

/** Returns the message to show: the session may have been closed already. Throws CallError. */
export async function closeSession(id: string): Promise<string> {
  try {
    await write('DELETE /sessions/:id', { params: { id } })
    return 'Сессия завершена'
  } catch (error) {
    if (error instanceof CallError && error.code === 'SESSION_NOT_FOUND') return errorMessage(error)
    throw error
  }
}

export const closeOtherSessions = () => write('DELETE /sessions', {})
