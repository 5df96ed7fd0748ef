import { useQuery } from '@tanstack/react-query'
import { call } from '../http/call.ts'
import { sessionStore } from '../platform/storage.ts'

const KEY = 'invitation'

/**
 * Reads whether an invitation is valid; null if the check failed. Saves it for a registration in
 * this tab, unless it is invalid.
 */
export function useInvitation(token: string) {
  return useQuery({
    queryKey: [KEY, token],
    queryFn: async ({ signal }) => {
      const body = { invitation: token }
      const answer = call('POST /invitations/validation', { body }, { signal })
      const { isValid } = await answer.catch(() => ({ isValid: null }))
      if (isValid !== false) sessionStore.write(KEY, token)
      return isValid
    },
    staleTime: 0,
  })
}

/** Returns the saved invitation for the body of a registration. */
export function savedInvitation(): { invitation?: string } {
  const invitation = sessionStore.read(KEY)
  return invitation === null ? {} : { invitation }
}
