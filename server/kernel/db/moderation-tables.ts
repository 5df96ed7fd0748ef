import type { ColumnType, Generated } from 'kysely'

/** A bigint, which pg returns as a string. */
export type Id = string
export type OptionalId = ColumnType<Id | null, Id | null | undefined, never>
export type GeneratedId = ColumnType<string, never, never>
export type CreatedAt = ColumnType<Date, never, never>

type Blocks = {
  user_id: Id
  reason: string
  until: Date | null
  blocked_by: string
  created_at: CreatedAt
}

export type ModerationTables = {
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
  blocks: Blocks
  blocks_in_force: Blocks
  blocked_mailboxes: { mailbox_hash: Buffer; reason: string; until: Date | null }
  moderators: { email_key: string; email: string; added_at: CreatedAt }
  moderator_users: { user_id: Id; username: string; email_key: string }
  moderator_mails: { mailed_at: Date }
  appeals: {
    post_id: Id
    user_id: Id
    text: string
    created_at: CreatedAt
    state: Generated<'open' | 'granted' | 'refused'>
    decided_at: Date | null
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
  site_state: {
    registrations_closed: string | null
    is_invite_only: boolean
    writing_closed: string | null
    notice: string | null
    notice_since: Date | null
    notice_until: Date | null
    mails_refused_at: Date | null
  }
  notice_in_force: { text: string; since: Date; until: Date | null }
  invitations: {
    id: GeneratedId
    token_hash: Buffer
    note: string | null
    uses: Generated<number>
    uses_left: Generated<number>
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
}
