import { type Kysely, sql } from 'kysely'

export const isAdditive = false

/** Lets people delete their accounts, and operators close the site, invite and ban. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db)
}

const STATEMENTS = [
  // Posts of users with a `deleted_at` are never shown. A returning user's archived rows are being
  // brought back.
  `ALTER TABLE users ADD deleted_at timestamptz, ADD is_returning boolean NOT NULL DEFAULT false`,
  `CREATE INDEX users_moving ON users (id) WHERE deleted_at IS NOT NULL OR is_returning`,
  `ALTER TABLE archived_posts
    DROP CONSTRAINT archived_posts_why_check,
    ADD CONSTRAINT archived_posts_why_check CHECK (why IN ('removed', 'hidden', 'deleted', 'left'))`,
  // A returning user's likes come back by ascending post.
  `DROP INDEX archived_likes_user`,
  `CREATE INDEX archived_likes_user ON archived_likes (user_id, post_id)`,
  `ALTER TABLE codes
    DROP CONSTRAINT codes_purpose_check,
    ADD CONSTRAINT codes_purpose_check
      CHECK (purpose IN ('login', 'registration', 'email-change', 'account-deletion'))`,
  // Keyed hashes of the names of erased users, in lower case, which nobody may take.
  `CREATE TABLE reserved_usernames (name_hash bytea PRIMARY KEY)`,

  `ALTER TABLE known_clients ADD used_at timestamptz NOT NULL DEFAULT now()`,
  `CREATE INDEX known_clients_used ON known_clients (used_at)`,

  // Filled only where the operator is ordered to keep it. Unlike the journal, it ends with its
  // term.
  `CREATE TABLE access_journal (
    id bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
    at timestamptz NOT NULL DEFAULT now(),
    action text NOT NULL,
    user_id bigint NOT NULL,
    post_id bigint,
    address text NOT NULL,
    port integer
  )`,
  `CREATE INDEX access_journal_time ON access_journal (at)`,
  `CREATE INDEX access_journal_user ON access_journal (user_id, at)`,

  // Null: open. Otherwise the reason that people are told.
  `CREATE TABLE site_state (
    is_only boolean PRIMARY KEY DEFAULT true CHECK (is_only),
    registrations_closed text,
    writing_closed text
  )`,
  `INSERT INTO site_state DEFAULT VALUES`,
  // The token itself is in the link alone.
  `CREATE TABLE invitations (
    token_hash bytea PRIMARY KEY,
    created_at timestamptz NOT NULL DEFAULT now(),
    expires_at timestamptz NOT NULL
  )`,
  `CREATE INDEX invitations_expiry ON invitations (expires_at)`,
  // Without an end a ban lasts until it is removed.
  `CREATE TABLE bans (
    id bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
    kind text NOT NULL CHECK (kind IN ('domain', 'network', 'email')),
    value text NOT NULL,
    until timestamptz,
    created_at timestamptz NOT NULL DEFAULT now(),
    UNIQUE (kind, value)
  )`,
]
