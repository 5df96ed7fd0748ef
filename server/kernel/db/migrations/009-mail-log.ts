import { type Kysely, sql } from 'kysely'

export const isAdditive = true

/**
 * Keeps what became of mails, since when the mail server has refused the login, and which backup
 * was verified last.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db)
}

const STATEMENTS = [
  // One row a mail, which each attempt updates. The address stands in it as a keyed hash and
  // masked.
  `CREATE TABLE mail_log (
    id bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
    task text NOT NULL,
    address_hash bytea NOT NULL,
    masked text NOT NULL,
    first_at timestamptz NOT NULL DEFAULT now(),
    at timestamptz NOT NULL DEFAULT now(),
    outcome text NOT NULL
      CHECK (outcome IN ('sent', 'refused', 'expired', 'retrying', 'paused', 'limited')),
    tries integer NOT NULL,
    error text,
    reply integer,
    answer text
  )`,
  `CREATE INDEX mail_log_time ON mail_log (at)`,
  `CREATE INDEX mail_log_address ON mail_log (address_hash, at)`,
  // One row. Null: the login was not refused.
  `CREATE TABLE mail_pause (
    is_only boolean PRIMARY KEY DEFAULT true CHECK (is_only),
    refused_since timestamptz,
    next_try_at timestamptz
  )`,
  `INSERT INTO mail_pause DEFAULT VALUES`,
  // When the backup that was verified last was made, and why the last nightly verification failed.
  `ALTER TABLE installation ADD backup_verified_copy timestamptz, ADD backup_verification_failed text`,
]
