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

/** A mail is `limited` by MAILS_PER_HOUR, and `slowed` because too many codes were refused. */
export type OutboxState =
  | 'queued'
  | 'retrying'
  | 'limited'
  | 'slowed'
  | 'sent'
  | 'refused'
  | 'expired'

/** A post is hidden by a moderator, by reports, by its author, or because the author has left. */
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
  hidden_reason: Generated<string | null>
  hidden_by: Generated<string | null>
  hidden_at: ColumnType<Date | null, never, Date | null>
  hidden_until: ColumnType<Date | null, never, Date | null>
  likes_moving_since: ColumnType<Date | null, never, Date | null>
  recipient_id: OptionalId
  received_no: ColumnType<string | null, string | null, never>
  is_muted: Generated<boolean>
}

/** The tables and views; the comments of server/schema/ describe them. */
export type Tables = ModerationTables & {
  users: {
    id: GeneratedId
    username: string
    email: string
    email_key: string
    created_at: CreatedAt
    deleted_at: ColumnType<Date | null, never, Date | null>
    is_returning: Generated<boolean>
    network_hash: Buffer | null
    consented_at: Date | null
    consent_version: string | null
    mailbox: string | null
  }
  consent_texts: { version: string; text: string; since: CreatedAt }
  access_token_key: { is_only: Generated<boolean>; key: Generated<Buffer> }
  reserved_usernames: { name_hash: Buffer }
  sessions: {
    id: string
    user_id: Id
    secret_hash: Buffer
    previous_hash: Buffer | null
    seen: boolean
    rotated_at: ColumnType<Date, never, Date>
    used_at: ColumnType<Date, never, Date>
    created_at: CreatedAt
    client_hash: Buffer
    browser_hash: Buffer
    is_token_lost: Generated<boolean>
    network_hash: Buffer | null
    user_agent: string
    user_agent_version: string
    os: string
  }
  closed_sessions: { id: string; secret_hashes: Buffer[]; reason: string; closed_at: CreatedAt }
  known_clients: { user_id: Id; client_hash: Buffer; used_at: ColumnType<Date, never, Date> }
  codes: {
    id: string
    purpose: Purpose
    email: string
    email_key: string
    user_id: Id
    client_hash: Buffer
    device: Device | null
    attempts: Generated<number>
    mails: number
    known_by: 'browser' | 'network' | null
    mailed_at: Date
    mail_state: Generated<MailState>
    expires_at: Date
  }
  email_changes: {
    id: string
    number: ColumnType<string, never, never>
    user_id: Id
    old_email: string
    expires_at: Date
  }
  released_usernames: { name: string; user_id: Id; released_at: ColumnType<Date, never, Date> }
  posts: Posts
  visible_posts: Posts
  answer_states: {
    user_id: Id
    last_no: Generated<string>
    seen_no: Generated<string>
    wants_mail: Generated<boolean>
    mailed_no: Generated<string>
    mailed_at: ColumnType<Date | null, never, Date | null>
    mails_since_visit: Generated<number>
  }
  mutes: { user_id: Id; muted_id: Id; created_at: CreatedAt }
  idempotency_keys: { owner_id: Id; key: string; post_id: Id; created_at: CreatedAt }
  owner_totals: { user_id: Id; posts: string; replies: string }
  likes: {
    id: GeneratedId
    post_id: Id
    user_id: Id
    created_at: CreatedAt
    post_hidden: Generated<boolean>
    user_left: Generated<boolean>
  }
  like_totals: { user_id: Id; likes: string }
  outbox: {
    id: GeneratedId
    task: string
    key: string | null
    payload: ColumnType<{ to: string } | null, never, null>
    is_urgent: Generated<boolean>
    is_to_new_address: Generated<boolean>
    domain: string | null
    queued_at: CreatedAt
    expires_at: Date
    due_at: Generated<Date>
    claimed_until: Date | null
    state: Generated<OutboxState>
    at: ColumnType<Date, never, Date>
    tries: Generated<number>
    is_unanswered: Generated<boolean>
    masked: string
    address_hash: Buffer | null
    error: string | null
    reply: number | null
    answer: string | null
  }
  mail_refusals: {
    at: CreatedAt
    network_hash: Buffer
  }
  recurring_jobs: { task: string; period: string }
  mail_pause: { refused_since: Date | null; next_try_at: Date | null }
  rate_limits: { key: string; arrival: Date; charged_at: Generated<Date> }
  installation: {
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
