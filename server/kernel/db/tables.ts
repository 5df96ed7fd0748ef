import type { ColumnType, Generated } from 'kysely'
import type { MailState } from '../../../contract/codes.ts'
import type { Device } from '../../../contract/fields.ts'

export type Purpose = 'login' | 'registration' | 'email-change' | 'account-deletion'

/** How the account knows a client; null for a stranger. */
export type KnownBy = 'browser' | 'network' | null

/** A mail is `limited` by MAILS_PER_HOUR, and `slowed` by refusals or by its network's limit. */
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

/** A charge of a shared limit, as its refund needs it. The key contains an HMAC. */
export type StoredCharge = { key: string; step: number }

/** A bigint, which pg returns as a string. */
type Id = string
type GeneratedId = ColumnType<string, never, never>
type CreatedAt = ColumnType<Date, never, never>

/** The tables, views and columns that Kysely's queries name. server/schema/ describes all of them. */
export type Tables = {
  users: {
    id: GeneratedId
    username: string
    email: string
    email_key: string
    deleted_at: Date | null
    is_returning: boolean
    mailbox: string | null
  }
  consent_texts: { version: string; text: string }
  access_token_key: { key: Buffer }
  reserved_usernames: { name_hash: Buffer }
  sessions: {
    id: string
    user_id: Id
    secret_hash: Buffer
    secret_number: Generated<number>
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
  closed_sessions: { id: string; reason: string; closed_at: Date }
  known_clients: { user_id: Id; client_hash: Buffer; used_at: ColumnType<Date, never, Date> }
  codes: {
    id: string
    purpose: Purpose
    email: string
    email_key: string
    user_id: Id
    client_hash: Buffer
    network_client_hash: Buffer | null
    device: Device | null
    attempts: Generated<number>
    charges: StoredCharge[]
    known_by: KnownBy
    mailed_at: Date
    mail_state: Generated<MailState>
    expires_at: Date
  }
  redeemed_codes: {
    id: string
    purpose: Purpose
    user_id: Id
    client_hash: Buffer
    network_client_hash: Buffer | null
    known_by: KnownBy
    /** pg parses jsonb. */
    outcome: ColumnType<unknown, string, never>
    wrong_codes: number
    redeemed_at: ColumnType<Date, never, never>
  }
  email_changes: {
    id: string
    number: ColumnType<string, never, never>
    user_id: Id
    old_email: string
    passkey_id: Generated<Id | null>
    is_removal: Generated<boolean>
    expires_at: Date
    undone_at: ColumnType<Date | null, never, Date>
  }
  passkeys: {
    id: GeneratedId
    user_id: Id
    credential_id: Buffer
    public_key: Buffer
    /** A bigint, which pg returns as a string. */
    counter: ColumnType<string, number, number>
    is_synced: boolean
    is_backed_up: boolean
    name: string
    created_at: CreatedAt
    used_at: Generated<Date | null>
    removed_at: Generated<Date | null>
  }
  passkey_operations: {
    id: string
    purpose: 'add' | 'sign-in'
    user_id: Id | null
    client_hash: Buffer | null
    network_client_hash: Buffer | null
    device: Device | null
    expires_at: Date
    redeemed_at: Generated<Date | null>
    passkey_id: Generated<Id | null>
    session_id: Generated<string | null>
  }
  released_usernames: { name: string; user_id: Id; released_at: ColumnType<Date, never, Date> }
  posts: {
    id: Id
    owner_id: Id
    text: string
    replied_post_id: Id | null
    likes_count: number
    hidden_for: HiddenFor | null
    hidden_by: string | null
    hidden_until: Date | null
  }
  answer_states: { user_id: Id; seen_no: string }
  idempotency_keys: { owner_id: Id; key: string; post_id: Id }
  owner_totals: { user_id: Id }
  likes: { post_id: Id; user_id: Id }
  report_reasons: { id: GeneratedId; name: string; place: number }
  reports: { id: Id; post_id: Id; state: 'open' | 'removed' | 'kept' }
  journal: {
    id: GeneratedId
    at: CreatedAt
    actor: string
    action: string
    user_id: Id | null
    post_id: Id | null
    reason: string | null
    details: ColumnType<Record<string, unknown>, string, never>
  }
  blocks: { user_id: Id; until: Date | null; blocked_by: string }
  blocks_in_force: { user_id: Id; reason: string; until: Date | null }
  blocked_mailboxes: { mailbox_hash: Buffer; until: Date | null }
  moderators: { email_key: string; email: string; added_at: Date; is_marked: boolean }
  moderator_users: { user_id: Id; is_marked: boolean }
  access_journal: {
    id: GeneratedId
    at: CreatedAt
    action: string
    user_id: Id
    post_id: Id | null
    address: string
    port: number | null
  }
  site_state: {
    registrations_closed: string | null
    is_invite_only: boolean
    writing_closed: string | null
    notice: string | null
    notice_since: Date | null
    notice_until: Date | null
    ends_at: Date | null
    ended: string | null
  }
  site_access: {
    registrations_closed: string | null
    is_invite_only: boolean
    writing_closed: string | null
    ends_at: Date | null
  }
  notice_in_force: { text: string; since: Date; until: Date | null }
  invitations: {
    id: GeneratedId
    token_hash: Buffer
    note: string | null
    uses: number
    uses_left: number
    expires_at: Date
  }
  bans: {
    id: GeneratedId
    kind: 'domain' | 'network' | 'email'
    value: string
    covers_all: boolean
    reason: string | null
    actor: string | null
    until: Date | null
    created_at: CreatedAt
  }
  outbox: {
    id: GeneratedId
    task: string
    key: string | null
    payload: ColumnType<{ to: string } | null, never, null>
    queued_at: CreatedAt
    expires_at: Date
    due_at: Generated<Date>
    claimed_until: Date | null
    state: Generated<OutboxState>
    at: ColumnType<Date, never, Date>
    tries: Generated<number>
    priority: ColumnType<number, never, never>
    is_unanswered: Generated<boolean>
    masked: string
    address_hash: Buffer | null
    error: string | null
    reply: number | null
    answer: string | null
  }
  mail_refusals: { at: CreatedAt; network_hash: Buffer }
  failing_tasks: { task: string; since: Date; failures: number }
  rate_limits: { key: string }
  mailed_networks: { hash: Buffer; mailed_at: ColumnType<Date, never, Date> }
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
    backup_minute: number | null
    id_base: string | null
    public_url: string | null
    moved_at: Date | null
    former_url: string | null
  }
}
