/** Constants of the product. Plain values only, because the browser loads this file. */

/** Longest post text, in Unicode code points after normalisation. */
export const POST_TEXT_MAX = 500
/** The counter of remaining characters appears when this many or fewer are left. */
export const POST_COUNTER_FROM = 50
/** Posts on a page unless `limit` says otherwise. */
export const PAGE_SIZE = 10
/** Largest `limit` a list accepts. */
export const PAGE_SIZE_MAX = 50
/** Largest `page` a list accepts (2^31 - 1), far beyond any real page. */
export const PAGE_MAX = 2_147_483_647
/** Digits in a one-time code. */
export const CODE_LENGTH = 6
/** How often the code of an operation may be guessed. */
export const CODE_ATTEMPTS = 5
/** Least seconds between two mails with the same code. */
export const CODE_RESEND_SECONDS = 60
/** Username length, in characters. */
export const USERNAME_MIN = 5
export const USERNAME_MAX = 32
/** Longest e-mail address, in characters (RFC 5321's path limit). */
export const EMAIL_MAX = 254
/** Live sessions a user may have. The next one closes the oldest. */
export const SESSIONS_MAX = 10
/** How many seconds before its expiry a client refreshes the access token. */
export const TOKEN_REFRESH_SECONDS = 20
/** Timeout of a client's request, in milliseconds. */
export const REQUEST_TIMEOUT_MS = 10_000
/** Largest request body, in bytes. */
export const BODY_MAX = 16 * 1024
/** Longest comment on a report and longest appeal, in characters. */
export const REPORT_COMMENT_MAX = 300
export const APPEAL_MAX = 500
/** The reason that a reporter may explain. */
export const OTHER_REASON = 'Другое нарушение'
/** Longest reason of a decision, longest note of a moderator, in characters, and longest block that ends by itself. */
export const MODERATION_REASON_MAX = 200
export const MODERATION_NOTE_MAX = 500
export const BLOCK_DAYS_MAX = 3650
/** How long a moderator may undo a decision. */
export const UNDO_SECONDS = 10
/** How long nobody else sees a decision: the answer that begins the moderator's ten seconds is under way for a while. */
export const DECISION_OPEN_SECONDS = UNDO_SECONDS + 2
/** Longest opaque value (id, cursor, key) a client may send, in characters. */
export const OPAQUE_MAX = 100
/** Longest clientToken and longest field of a device, in characters. */
export const CLIENT_TOKEN_MAX = 256
export const DEVICE_FIELD_MAX = 100
/** For how long the reads of who has written something do not come from a cache (ms). */
export const READ_AFTER_WRITE_MS = 2000
/** Days in which a deleted account can be brought back. */
export const RETURN_DAYS = 14
/** The header by which a response says that it was saved earlier and could not be read anew (RFC 9211), and how its value begins. */
export const SAVED_HEADER = 'cache-status'
export const SAVED_STATUS = 'vslukh; hit; ttl=-'
