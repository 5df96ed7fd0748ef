import { localStore, sessionStore } from '../platform/storage.ts'
import { LETTERS_OFF_KEY } from '../ui/shortcuts.ts'
import { forgetKept } from './kept-texts.ts'
import {
  CLIENT_TOKEN_KEY,
  HAD_SESSION_KEY,
  INTRO_SEEN_KEY,
  NO_COUNTS_KEY,
  NOTICE_SEEN_KEY,
  OUTBOX,
  THEME_KEY,
} from './stored-keys.ts'

/** The keys that stay after a logout. */
const OF_THE_BROWSER = new Set([
  CLIENT_TOKEN_KEY,
  INTRO_SEEN_KEY,
  LETTERS_OFF_KEY,
  NO_COUNTS_KEY,
  NOTICE_SEEN_KEY,
  THEME_KEY,
])

/**
 * Removes what the browser stores about a user. The second word of a key may be its user's id.
 * `keepsOutbox` leaves the texts that wait to be sent.
 */
export function forgetPerson(userId: string, { keepsOutbox = false } = {}): void {
  // Removed first: a form of another tab learns by it that its draft was not sent.
  localStore.remove(HAD_SESSION_KEY)
  for (const key of localStore.keys('')) {
    const [kind, owner] = key.split(' ')
    if (keepsOutbox && kind === OUTBOX) continue
    if (owner === undefined ? !OF_THE_BROWSER.has(key) : owner === userId) localStore.remove(key)
  }
}

export function forgetTab(): void {
  sessionStore.keys('').forEach(sessionStore.remove)
  forgetKept()
}
