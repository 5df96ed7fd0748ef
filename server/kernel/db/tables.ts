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

/** All tables, and the views that Kysely's queries name. server/schema/ describes them. */
export type Tables = {
  users: {
    id: GeneratedId
    username: string
    email: string
    email_key: string
    created_at: CreatedAt
    deleted_at: Date | null
    is_returning: Generated<boolean>
    network_hash: Buffer | null
    network_group: string | null
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
  closed_sessions: {
    id: string
    secret_hashes: Buffer[]
    reason: string
    closed_at: Generated<Date>
  }
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
    mails: Generated<number>
    charges: Generated<StoredCharge[]>
    known_by: KnownBy
    mailed_at: Date | null
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
    id: GeneratedId
    owner_id: Id
    text: string
    created_at: CreatedAt
    is_modified: Generated<boolean>
    modified_at: Date | null
    parent_post_id: Id | null
    replied_post_id: Id | null
    clarification_id: Id | null
    recipient_id: Id | null
    received_no: string | null
    is_muted: Generated<boolean>
    likes_count: Generated<number>
    replies_count: Generated<number>
    hidden_for: HiddenFor | null
    hidden_reason: string | null
    hidden_by: string | null
    hidden_at: Date | null
    hidden_until: Date | null
  }
  mentions: { post_id: Id; user_id: Id; names: string[]; received_no: string | null }
  muted_replies: { recipient_id: Id; received_no: string; post_id: Id }
  answer_states: {
    user_id: Id
    last_no: Generated<string>
    seen_no: Generated<string>
    wants_mail: Generated<boolean>
    mailed_no: Generated<string>
    mailed_at: Date | null
    mails_since_visit: Generated<number>
  }
  idempotency_keys: { owner_id: Id; key: string; post_id: Id; created_at: CreatedAt }
  wall_totals: { slot: number; posts: Generated<string> }
  owner_totals: { user_id: Id; posts: Generated<string>; replies: Generated<string> }
  likes: {
    id: GeneratedId
    post_id: Id
    user_id: Id
    created_at: CreatedAt
    user_left: Generated<boolean>
  }
  mutes: { user_id: Id; muted_id: Id; created_at: CreatedAt; until: Date | null }
  report_reasons: { id: GeneratedId; name: string; place: number }
  reports: {
    id: GeneratedId
    post_id: Id
    reporter_id: Id
    reason_id: Id
    created_at: CreatedAt
    author_id: Id
    post_text: string
    posted_at: Date
    comment: string | null
    state: Generated<'open' | 'removed' | 'kept'>
    decided_at: Date | null
    is_seen: Generated<boolean>
  }
  appeals: {
    post_id: Id
    user_id: Id
    text: string
    created_at: CreatedAt
    state: Generated<'open' | 'granted' | 'refused'>
    decided_at: Date | null
  }
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
  blocks: {
    user_id: Id
    reason: string
    until: Date | null
    blocked_by: string
    created_at: CreatedAt
  }
  blocks_in_force: {
    user_id: Id
    reason: string
    until: Date | null
    blocked_by: string
    created_at: CreatedAt
  }
  blocked_mailboxes: { mailbox_hash: Buffer; reason: string; until: Date | null }
  moderators: {
    email_key: string
    email: string
    added_at: Generated<Date>
    is_marked: Generated<boolean>
  }
  moderator_users: { user_id: Id; username: string; email_key: string; is_marked: boolean }
  moderator_mails: { is_only: Generated<boolean>; mailed_at: Generated<Date> }
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
    is_only: Generated<boolean>
    registrations_closed: string | null
    is_invite_only: boolean
    writing_closed: string | null
    notice: string | null
    notice_since: Date | null
    notice_until: Date | null
    mails_refused_at: Date | null
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
    created_at: CreatedAt
    expires_at: Date
  }
  bans: {
    id: GeneratedId
    kind: 'domain' | 'network' | 'email'
    value: string
    network: ColumnType<string | null, never, never>
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
    priority: ColumnType<number, never, never>
    is_unanswered: Generated<boolean>
    masked: string
    address_hash: Buffer | null
    error: string | null
    reply: number | null
    answer: string | null
  }
  mail_refusals: { id: GeneratedId; at: CreatedAt; network_hash: Buffer }
  mail_pause: {
    is_only: Generated<boolean>
    refused_since: Date | null
    next_try_at: Date | null
  }
  failing_tasks: { task: string; since: Generated<Date>; failures: Generated<number> }
  recurring_jobs: { task: string; period: string }
  rate_limits: { key: string; arrival: Date; charged_at: Generated<Date> }
  mailed_networks: { hash: Buffer; mailed_at: ColumnType<Date, never, Date> }
  additive_migrations: { name: string }
  installation: {
    is_only: Generated<boolean>
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
