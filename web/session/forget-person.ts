import { isRecord } from '../platform/guards.ts'
import { localStore, sessionStore } from '../platform/storage.ts'
import {
  BUTTON_PAGES_KEY,
  CLIENT_TOKEN_KEY,
  HAD_SESSION_KEY,
  INTRO_SEEN_KEY,
  LETTERS_OFF_KEY,
  NO_COUNTS_KEY,
  NOTICE_SEEN_KEY,
  TEXT,
  THEME_KEY,
} from '../platform/stored-keys.ts'
import { forgetKept } from './kept-texts.ts'

/** The keys that stay after a logout. */
const OF_THE_BROWSER = new Set([
  CLIENT_TOKEN_KEY,
  INTRO_SEEN_KEY,
  LETTERS_OFF_KEY,
  BUTTON_PAGES_KEY,
  NO_COUNTS_KEY,
  NOTICE_SEEN_KEY,
  THEME_KEY,
])

/**
 * Removes what the browser stores about a user. The second word of a key may be its user's id.
 * `keepsSubmitted` leaves the texts that wait to be sent, or were refused.
 */
export function forgetPerson(userId: string, { keepsSubmitted = false } = {}): void {
  // Removed first: a form of another tab learns by it that its draft was not sent.
  localStore.remove(HAD_SESSION_KEY)
  for (const key of localStore.keys('')) {
    const [kind, owner] = key.split(' ')
    // Before 1.0.0 submitted texts had keys of their own.
    const isSubmitted = kind === 'outbox' || (kind === TEXT && stateOf(key) !== 'draft')
    if (keepsSubmitted && isSubmitted) continue
    if (owner === undefined ? !OF_THE_BROWSER.has(key) : owner === userId) localStore.remove(key)
  }
}

function stateOf(key: string): unknown {
  return localStore.readJson(key, isRecord)?.state
}

export function forgetTab(): void {
  sessionStore.keys('').forEach(sessionStore.remove)
  forgetKept()
}
