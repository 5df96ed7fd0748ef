/** The browser loads this file, so it has only plain values. Lengths are in characters. */

export const API_PREFIX = '/api/v1'
/** The path of the stream of server-sent events. */
export const LIVE_PATH = `${API_PREFIX}/live`
/** The first event of a stream. It repeats recent news, whose posts may have been deleted since. */
export const LIVE_FORMER = 'former'
/** The event that is sent regularly, so that silence means a broken stream. */
export const LIVE_BEAT = 'beat'
/** The period of the news that LIVE_FORMER repeats: a page may have been loading all this time. */
export const LIVE_RECENT_MS = 10_000
/** In Unicode code points after normalisation. */
export const POST_TEXT_MAX = 500
/** The form shows the number of remaining characters once it is this low. */
export const POST_COUNTER_FROM = 50
export const PAGE_SIZE = 10
export const PAGE_SIZE_MAX = 50
/** The cursor with which a list begins with its oldest post and continues with newer posts. */
export const FROM_OLDEST = 'oldest-0'
/** The most posts above a reply that a page shows at first, and that one call returns. */
export const ANCESTORS_SHOWN = 3
export const ANCESTORS_MAX = 100
export const PAGE_MAX = 2_147_483_647
export const CODE_LENGTH = 6
export const CODE_ATTEMPTS = 5
/** The shortest time between two mails with the same code. */
export const CODE_RESEND_SECONDS = 60
/** The longest life of an operation with a code; its mail may take half of this time. */
export const OPERATION_LIFE_MS = 20 * 60_000
export const USERNAME_MIN = 5
export const USERNAME_MAX = 32
/** The longest address that fits into a path of RFC 5321. */
export const EMAIL_MAX = 254
/** The most live sessions of a user: the next sign-in closes the oldest session. */
export const SESSIONS_MAX = 10
/** The most passkeys of a user. */
export const PASSKEYS_MAX = 10
export const PASSKEY_NAME_MAX = 60
/** How long before its expiry a client refreshes the access token. */
export const TOKEN_REFRESH_SECONDS = 20
export const REQUEST_TIMEOUT_MS = 10_000
export const BODY_MAX = 16 * 1024
export const REPORT_COMMENT_MAX = 300
export const APPEAL_MAX = 500
/** The name of the report reason to which a reporter may add a comment. */
export const OTHER_REASON = 'Другое нарушение'
export const MODERATION_REASON_MAX = 200
export const MODERATION_NOTE_MAX = 500
export const BLOCK_DAYS_MAX = 3650
/** The shortest time between two clarifications of a post. */
export const CLARIFY_SECONDS = 3600
/** The most posts of an author's last day that one call removes within its deadline of 8 s. */
export const RECENT_POSTS_MAX = 100
export const MUTES_MAX = 1000
export const MUTE_DAYS_MAX = 365
export const HIDDEN_WORDS_MAX = 100
export const HIDDEN_WORD_MIN = 2
export const HIDDEN_WORD_MAX = 50
/** The longest opaque value (id, cursor, key) that a client may send. */
export const OPAQUE_MAX = 100
export const CLIENT_TOKEN_MAX = 256
export const DEVICE_FIELD_MAX = 100
/** For this long after a write, the user's own reads bypass all caches. */
export const READ_AFTER_WRITE_MS = 2000
/** For this many days the owner can restore a deleted account; then it is erased. */
export const RETURN_DAYS = 14
/** The header of a stale response that is served because a fresh read failed (RFC 9211). */
export const STALE_HEADER = 'cache-status'
export const STALE_STATUS = 'vslukh; hit; ttl=-'
/** Unread replies are counted only up to this number. */
export const UNREAD_MAX = 100
export const SEARCH_MAX = 100
/** The maximum number of users whom a post notifies of a mention. */
export const MENTIONS_TOLD_MAX = 5
/** The fewest letters of a name for which names are suggested, and the most names. */
export const NAME_START_MIN = 2
export const NAMES_SUGGESTED_MAX = 6
/** A class of what may stand in a word and changes nothing: invisible characters and stress marks. */
export const UNSEEN_IN_WORDS = '[\\p{Default_Ignorable_Code_Point}\\u0300\\u0301]'

export const TEXT_NAMES = ['about', 'rules', 'privacy', 'consent', 'contacts'] as const

/** The ReplySummary of a user who has no unread replies, mutes no post and wants mails. */
export const NO_REPLIES_RECEIVED = { unread: 0, muted: [] as string[], wantsMail: true }
