import { type Kysely, sql } from 'kysely'

export const isAdditive = false

/**
 * Stores what an undo of an account's changes needs: former addresses, and usernames reserved for
 * their former owners.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db)
}

const STATEMENTS = [
  // number orders the changes of one user: an undo also undoes the later ones.
  `CREATE TABLE email_changes (
    id text PRIMARY KEY,
    number bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
    user_id bigint NOT NULL REFERENCES users ON DELETE CASCADE,
    old_email text NOT NULL,
    expires_at timestamptz NOT NULL
  )`,
  `CREATE INDEX email_changes_user ON email_changes (user_id)`,
  `CREATE INDEX email_changes_expiry ON email_changes (expires_at)`,

  // name is in lower case, as users_username compares.
  `CREATE TABLE released_usernames (
    name text PRIMARY KEY,
    user_id bigint NOT NULL REFERENCES users ON DELETE CASCADE,
    released_at timestamptz NOT NULL DEFAULT now()
  )`,
  `CREATE INDEX released_usernames_user ON released_usernames (user_id)`,
  `CREATE INDEX released_usernames_time ON released_usernames (released_at)`,
]
