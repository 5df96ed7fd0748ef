import { sessionStore } from '../platform/storage.ts'

const KEY = 'invitation'

/** Saves an invitation for the registration in this tab. */
export function saveInvitation(token: string): void {
  if (token !== '') sessionStore.write(KEY, token)
}

/** Returns the invitation for the body of a registration. */
export function savedInvitation(): { invitation?: string } {
  const invitation = sessionStore.read(KEY)
  return invitation === null ? {} : { invitation }
}
