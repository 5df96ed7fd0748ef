import { localStore, sessionStore } from '../platform/storage.ts'
import { LETTERS_OFF_KEY } from '../ui/shortcuts.ts'
import {
  CLIENT_TOKEN_KEY,
  INTRO_SEEN_KEY,
  NO_COUNTS_KEY,
  NOTICE_SEEN_KEY,
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

/** Removes what the browser stores about a user. The second word of a key may be its user's id. */
export function forgetPerson(userId: string): void {
  for (const key of localStore.keys('')) {
    const [, owner] = key.split(' ')
    if (owner === undefined ? !OF_THE_BROWSER.has(key) : owner === userId) localStore.remove(key)
  }
}

export function forgetTab(): void {
  sessionStore.keys('').forEach(sessionStore.remove)
}
