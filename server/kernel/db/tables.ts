import type { ColumnType, Generated } from 'kysely'
import type { MailState } from '../../../contract/codes.ts'
import type { Device } from '../../../contract/fields.ts'
import type {
  CreatedAt,
  GeneratedId,
  Id,
  ModerationTables,
  OptionalId,
} from './moderation-tables.ts'

export type Purpose = 'login' | 'registration' | 'email-change' | 'account-deletion'

/**
 * Ends: `sent`, `refused`, `expired`. `retrying`: after an attempt; `limited`: MAILS_PER_HOUR;
 * `slowed`: too many codes were refused.
 */
export type OutboxState =
  | 'queued'
  | 'retrying'
  | 'limited'
  | 'slowed'
  | 'sent'
  | 'refused'
  | 'expired'

/** Hidden by a moderator, by reports, by its author, or because the author has left. */
export type HiddenFor = 'removed' | 'reported' | 'deleted' | 'left'

type Posts = {
  id: GeneratedId
  owner_id: Id
  text: string
  created_at: CreatedAt
  is_modified: Generated<boolean>
  modified_at: ColumnType<Date | null, never, Date>
  parent_post_id: OptionalId
  replied_post_id: OptionalId
  likes_count: Generated<number>
  replies_count: Generated<number>
  hidden_for: Generated<HiddenFor | null>
  /** Shown to the author. */
  hidden_reason: Generated<string | null>
  hidden_by: Generated<string | null>
  hidden_at: ColumnType<Date | null, never, Date | null>
  /** When the post is purged. */
  hidden_until: ColumnType<Date | null, never, Date | null>
  /** Since when a job lets its likes follow; null once all have. */
  likes_moving_since: ColumnType<Date | null, never, Date | null>
  /** Of a reply to somebody else: whom it answers, and which of the replies to them it is. */
  recipient_id: OptionalId
  received_no: ColumnType<string | null, string | null, never>
  /** Whether the owner receives no further replies to it. */
  is_muted: Generated<boolean>
}

export type Tables = ModerationTables & {
  users: {
    id: GeneratedId
    username: string
    email: string
    email_key: string
    created_at: CreatedAt
    /** The posts of a user who has left are never shown. */
    deleted_at: ColumnType<Date | null, never, Date | null>
    /** Whether a job is bringing back the rows of an account that returned. */
    is_returning: Generated<boolean>
    /** Three bytes of a keyed hash, for a month. */
    network_hash: Buffer | null
    consented_at: Date | null
    consent_version: string | null
    /** Of the e-mail, however that is spelt. */
    mailbox: string | null
  }
  /** What people have consented to, by the beginning of the text's SHA-256. */
  consent_texts: { version: string; text: string; since: CreatedAt }
  /** One row. */
  access_token_key: { is_only: Generated<boolean>; key: Generated<Buffer> }
  /** Names of erased users, in lower case, as keyed hashes. */
  reserved_usernames: { name_hash: Buffer }
  sessions: {
    id: string
    user_id: Id
    secret_hash: Buffer
    previous_hash: Buffer | null
    /** Whether the client has sent the current secret. */
    seen: boolean
    rotated_at: ColumnType<Date, never, Date>
    used_at: ColumnType<Date, never, Date>
    created_at: CreatedAt
    client_hash: Buffer
    /** Of the browser's cookie. */
    browser_hash: Buffer
    /** Since the browser has lost its clientToken, its cookie alone proves it. */
    is_token_lost: Generated<boolean>
    /** The first bytes of a keyed hash of the account and the network that it was opened in. */
    network_hash: Buffer | null
    user_agent: string
    user_agent_version: string
    os: string
  }
  /** What the browser of a session that somebody has closed is answered. It names no user. */
  closed_sessions: { id: string; secret_hashes: Buffer[]; reason: string; closed_at: CreatedAt }
  known_clients: { user_id: Id; client_hash: Buffer; used_at: ColumnType<Date, never, Date> }
  codes: {
    id: string
    purpose: Purpose
    email: string
    email_key: string
    /** 0 where nobody is signed in. */
    user_id: Id
    client_hash: Buffer
    device: Device | null
    attempts: Generated<number>
    /** How many mails with the code count, and whether against the limits of a stranger. */
    mails: number
    known_by: 'browser' | 'network' | null
    mailed_at: Date
    mail_state: Generated<MailState>
    expires_at: Date
  }
  /** As keyed hashes. */
  email_changes: {
    id: string
    number: ColumnType<string, never, never>
    user_id: Id
    old_email: string
    expires_at: Date
  }
  /** In lower case; only their former owners may take them. */
  released_usernames: { name: string; user_id: Id; released_at: ColumnType<Date, never, Date> }
  posts: Posts
  visible_posts: Posts
  answer_states: {
    user_id: Id
    /** The number of the newest reply that the user has received. */
    last_no: Generated<string>
    seen_no: Generated<string>
    wants_mail: Generated<boolean>
    /** Up to which reply mails have told. */
    mailed_no: Generated<string>
    mailed_at: ColumnType<Date | null, never, Date | null>
    mails_since_visit: Generated<number>
  }
  mutes: { user_id: Id; muted_id: Id; created_at: CreatedAt }
  idempotency_keys: { owner_id: Id; key: string; post_id: Id; created_at: CreatedAt }
  wall_totals: { slot: number; posts: string }
  owner_totals: { user_id: Id; posts: string; replies: string }
  likes: {
    id: GeneratedId
    post_id: Id
    user_id: Id
    created_at: CreatedAt
    /** If true, the like does not count for its user. */
    post_hidden: Generated<boolean>
    /** If true, the like does not count for the post. */
    user_left: Generated<boolean>
  }
  like_totals: { user_id: Id; likes: string }
  outbox: {
    id: GeneratedId
    /** The name of a kind of mail (`mailsOf` in app.ts). */
    task: string
    /** No two waiting mails have the same key. */
    key: string | null
    /** What the mail is written from, with its address; null at its end, as the key. */
    payload: ColumnType<{ to: string } | null, never, null>
    is_urgent: Generated<boolean>
    /** Whether it is a code for an address without an account. */
    is_to_new_address: Generated<boolean>
    /** The recipient's, in ASCII. */
    domain: string | null
    queued_at: CreatedAt
    expires_at: Date
    due_at: Generated<Date>
    claimed_until: Date | null
    state: Generated<OutboxState>
    /** Since when it has this state. */
    at: ColumnType<Date, never, Date>
    tries: Generated<number>
    /** Whether it was sent whole before, and no reply came. */
    is_unanswered: Generated<boolean>
    masked: string
    /** A keyed hash; null before the first attempt. */
    address_hash: Buffer | null
    error: string | null
    reply: number | null
    answer: string | null
  }
  /** Codes that the mail server refused because of the mailbox. */
  mail_refusals: {
    at: CreatedAt
    /** A keyed hash of the network that asked for it. */
    network_hash: Buffer
  }
  recurring_jobs: { task: string; period: string }
  /** Null: the mail server has not refused the login. */
  mail_pause: { refused_since: Date | null; next_try_at: Date | null }
  /** When the next event of a key would come, if all kept to its pace, and when one was counted. */
  rate_limits: { key: string; arrival: Date; charged_at: Generated<Date> }
  installation: {
    /** An irreversible hash of APP_SECRET; null until the first start. */
    secret_fingerprint: Buffer | null
    version: string | null
    counters_checked_at: Date | null
    counter_differences: number | null
    backup_at: Date | null
    backup_bytes: string | null
    backup_failed: string | null
    backup_verified_at: Date | null
    backup_verified_copy: Date | null
    backup_verification_failed: string | null
  }
}
