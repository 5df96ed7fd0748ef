import { useQuery } from '@tanstack/react-query'
import { call } from '../http/call.ts'
import { sessionStore } from '../platform/storage.ts'

const KEY = 'invitation'

/** Asks whether one can register with an invitation; undefined where nobody answers. */
export function useInvitation(token: string): { isPending: boolean; isValid: boolean | undefined } {
  const { isPending, data } = useQuery({
    queryKey: [KEY, token],
    queryFn: ({ signal }) =>
      call('POST /invitations/validation', { body: { invitation: token } }, { signal }),
    staleTime: 0,
    retry: false,
  })
  return { isPending, isValid: data?.isValid }
}

/** Saves an invitation for the registration in this tab. */
export function saveInvitation(token: string): void {
  sessionStore.write(KEY, token)
}

/** Returns the invitation for the body of a registration. */
export function savedInvitation(): { invitation?: string } {
  const invitation = sessionStore.read(KEY)
  return invitation === null ? {} : { invitation }
}
