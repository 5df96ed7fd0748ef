import { sessionStore } from '../browser/storage.ts'

const KEY = 'invitation'

/** Saves what an invitation's link contains for the registration in this tab. */
export function saveInvitation(token: string): void {
  if (token !== '') sessionStore.write(KEY, token)
}

/** The invitation that was opened in this tab, for the body of a registration; nothing without one. */
export function savedInvitation(): { invitation?: string } {
  const invitation = sessionStore.read(KEY)
  return invitation === null ? {} : { invitation }
}
