/** The browser loads this file: plain values only. Lengths are in characters. */

export const API_PREFIX = '/api/v1'
/** The stream of server-sent events with news for browsers. */
export const LIVE_PATH = `${API_PREFIX}/live`
/** The event that begins a stream. It repeats earlier news, whose posts may be gone by now. */
export const LIVE_FORMER = 'former'
/** The event that is sent regularly, so that silence means a broken stream. */
export const LIVE_BEAT = 'beat'
/** LIVE_FORMER repeats the news of this time, during which a page may have been loading. */
export const LIVE_RECENT_MS = 10_000
/** In Unicode code points after normalisation. */
export const POST_TEXT_MAX = 500
export const POST_COUNTER_FROM = 50
export const PAGE_SIZE = 10
export const PAGE_SIZE_MAX = 50
/** The cursor of a list that begins with its oldest post and goes on to newer ones. */
export const FROM_OLDEST = 'oldest-0'
export const ANCESTORS_SHOWN = 3
export const ANCESTORS_MAX = 100
export const PAGE_MAX = 2_147_483_647
export const CODE_LENGTH = 6
export const CODE_ATTEMPTS = 5
/** The shortest time between two mails with the same code. */
export const CODE_RESEND_SECONDS = 60
/** The longest life of an operation with a code, of which the mail may take ten minutes. */
export const OPERATION_LIFE_MS = 20 * 60_000
export const USERNAME_MIN = 5
export const USERNAME_MAX = 32
/** The limit of RFC 5321 for a path. */
export const EMAIL_MAX = 254
export const SESSIONS_MAX = 10
/** How long before its expiry a client refreshes the access token. */
export const TOKEN_REFRESH_SECONDS = 20
export const REQUEST_TIMEOUT_MS = 10_000
export const BODY_MAX = 16 * 1024
export const REPORT_COMMENT_MAX = 300
export const APPEAL_MAX = 500
export const OTHER_REASON = 'Другое нарушение'
export const MODERATION_REASON_MAX = 200
export const MODERATION_NOTE_MAX = 500
export const BLOCK_DAYS_MAX = 3650
/** How many of an author's posts of the last day one call removes, within its eight seconds. */
export const RECENT_MAX = 100
export const MUTES_MAX = 1000
export const HIDDEN_WORDS_MAX = 100
export const HIDDEN_WORD_MIN = 2
export const HIDDEN_WORD_MAX = 50
/** Longest opaque value (id, cursor, key) that a client may send. */
export const OPAQUE_MAX = 100
export const CLIENT_TOKEN_MAX = 256
export const DEVICE_FIELD_MAX = 100
export const READ_AFTER_WRITE_MS = 2000
export const RETURN_DAYS = 14
/** The header of a stale response that is served because a fresh read failed (RFC 9211). */
export const SAVED_HEADER = 'cache-status'
export const SAVED_STATUS = 'vslukh; hit; ttl=-'
export const UNREAD_MAX = 100
export const SEARCH_MAX = 100

export const TEXT_NAMES = ['about', 'rules', 'privacy', 'consent', 'contacts'] as const

/** The Received of a user who has no unread replies, mutes no post and wants mails. */
export const NOTHING_RECEIVED = { unread: 0, muted: [] as string[], wantsMail: true }
