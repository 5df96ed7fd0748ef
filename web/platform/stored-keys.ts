export const THEME_KEY = 'theme'
export const NO_COUNTS_KEY = 'no-counts'
/** Stored if lists load their next page by a button instead of scrolling. */
export const BUTTON_PAGES_KEY = 'button-pages'
export const INTRO_SEEN_KEY = 'intro-seen'
export const NOTICE_SEEN_KEY = 'notice-seen'
/** Stored if the person has turned off single-letter shortcuts (WCAG 2.1.4). */
export const LETTERS_OFF_KEY = 'letter-keys'
export const HIDDEN_KEY = 'hidden'
export const SIGN_IN_KEY = 'sign-in'
/** Stores 'registered' or 'returned' until the next page greets the person. */
export const ARRIVAL_KEY = 'registered'
export const CLIENT_TOKEN_KEY = 'client-token'
/** The key of each text that is not published yet begins with this and the id of its author. */
export const TEXT = 'text'
/** Stored from a session's first token until its end. Holds the user's id once it is known. */
export const HAD_SESSION_KEY = 'had-session'

export function anchorKey(entryKey: string): string {
  return `place ${entryKey}`
}
