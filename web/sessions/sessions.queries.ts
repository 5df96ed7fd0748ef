import { useQuery } from '@tanstack/react-query'
import type { Session } from '../../contract/sessions.ts'
import { call } from '../http/call.ts'
import { CallError } from '../http/call-error.ts'
import { queryClient } from '../http/query-client.ts'
import { write } from '../session/write.ts'

const SESSIONS = ['sessions']

/** Reads the sessions at each opening of the page, because other devices change them. */
export function useSessions() {
  return useQuery({
    queryKey: SESSIONS,
    queryFn: async ({ signal }) => (await call('GET /sessions', {}, { signal })).sessions,
    staleTime: 0,
  })
}

/** Removes sessions from the list before it is read again. */
function keepSessions(isOpen: (session: Session) => boolean): void {
  queryClient.setQueryData<Session[]>(SESSIONS, (sessions) => sessions?.filter(isOpen))
}

/** Closes a session. Returns the message: it may be closed already. Throws CallError. */
export async function closeSession(id: string): Promise<string> {
  const message = await write('DELETE /sessions/:id', { params: { id } }).then(
    () => 'Сессия завершена',
    (error) => {
      if (error instanceof CallError && error.code === 'SESSION_NOT_FOUND') return error.message
      throw error
    },
  )
  keepSessions((session) => session.id !== id)
  return message
}

export async function closeOtherSessions(): Promise<string> {
  await write('DELETE /sessions', {})
  keepSessions((session) => session.current)
  return 'Сессии завершены'
}
