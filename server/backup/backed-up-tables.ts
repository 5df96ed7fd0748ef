import type { Tables } from '../db/tables.ts'

/** The tables of a backup. A table stands after those that its foreign keys refer to, because rows are restored in this order. */
export const BACKED_UP = [
  'installation',
  'site_state',
  'users',
  'reserved_usernames',
  'released_usernames',
  'sessions',
  'known_clients',
  'email_changes',
  'posts',
  'removed_posts',
  'idempotency_keys',
  'likes',
  'wall_totals',
  'owner_totals',
  'like_totals',
  'archived_posts',
  'archived_likes',
  'report_reasons',
  'reports',
  'appeals',
  'blocks',
  'blocked_mailboxes',
  'moderators',
  'moderator_mails',
  'journal',
  'access_journal',
  'invitations',
  'bans',
] as const satisfies (keyof Tables)[]

/** The tables that stay out: what is about mails and requests of the last days, and what the migrations of a restore write themselves. */
export const LEFT_OUT = [
  'codes',
  'code_mails',
  'rate_limits',
  'mail_log',
  'mail_pause',
  'additive_migrations',
  'kysely_migration',
  'kysely_migration_lock',
] as const
