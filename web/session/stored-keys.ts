/** Keys of the browser's storages that several parts read, most of them before the first paint. */
export const THEME_KEY = 'theme'
export const NO_COUNTS_KEY = 'no-counts'
export const INTRO_SEEN_KEY = 'intro-seen'
/** The id of the notice that was hidden last. */
export const NOTICE_SEEN_KEY = 'notice-seen'
export const ANCHORS_KEY = 'places'
export const HIDDEN_KEY = 'hidden'
/** The pending operation of a login or a registration. */
export const SIGN_IN_KEY = 'sign-in'
/** Stored until the next page greets the person: 'registered', or 'returned' to a restored account. */
export const ARRIVAL_KEY = 'registered'
export const CLIENT_TOKEN_KEY = 'client-token'
/** Stored from a session's first token until its end is known: the id of its user, once known. */
export const HAD_SESSION_KEY = 'had-session'
