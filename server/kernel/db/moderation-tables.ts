import type { ColumnType, Generated } from 'kysely'
import type { CreatedAt, GeneratedId, Id } from './column-types.ts'

/** What moderators and the operator decide, what led to it, and the journal of it. */
export type ModerationTables = {
  report_reasons: { id: GeneratedId; name: string; place: number }
  reports: {
    id: GeneratedId
    post_id: Id
    reporter_id: Id
    reason_id: Id
    created_at: CreatedAt
    /** The post as it was when it was reported. */
    author_id: Id
    post_text: string
    posted_at: Date
    comment: string | null
    state: Generated<'open' | 'removed' | 'kept'>
    decided_at: Date | null
    /** The decision's row in the journal. */
    decision_id: Id | null
    /** Whether the reporter has seen the outcome. */
    is_seen: Generated<boolean>
  }
  /** Append-only. It outlives what it names. */
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
    /** Null: until somebody takes it back. */
    until: Date | null
    blocked_by: string
    created_at: CreatedAt
  }
  /** Mailboxes of blocked users as keyed hashes; they outlive the users. */
  blocked_mailboxes: { mailbox_hash: Buffer; reason: string; until: Date | null }
  moderators: { email_key: string; email: string; added_at: CreatedAt }
  /** One row. */
  moderator_mails: { mailed_at: Date }
  appeals: {
    post_id: Id
    user_id: Id
    text: string
    created_at: CreatedAt
    state: Generated<'open' | 'granted' | 'refused'>
    decided_at: Date | null
    decision_id: Id | null
  }
  access_journal: {
    id: GeneratedId
    at: CreatedAt
    action: string
    user_id: Id
    post_id: Id | null
    address: string
    port: number | null
  }
  /** One row. A reason means closed, null open. */
  site_state: { registrations_closed: string | null; writing_closed: string | null }
  invitations: { token_hash: Buffer; created_at: CreatedAt; expires_at: Date }
  bans: {
    id: GeneratedId
    kind: 'domain' | 'network' | 'email'
    value: string
    /** Of a network, for comparing; from `value`. */
    network: ColumnType<string | null, never, never>
    reason: string | null
    actor: string | null
    /** Null: until somebody removes it. */
    until: Date | null
    created_at: CreatedAt
  }
}
