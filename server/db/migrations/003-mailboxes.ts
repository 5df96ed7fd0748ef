import { type Kysely, sql } from 'kysely'
import { emailKey } from '../email-key.ts'

const STATEMENTS = [
  // Who asked for code mails to whom, as keyed hashes; the limit on them is counted here.
  `CREATE TABLE code_mails (
    mailbox bytea NOT NULL,
    network bytea NOT NULL,
    asked_at timestamptz NOT NULL,
    mailed_at timestamptz[] NOT NULL,
    expires_at timestamptz NOT NULL,
    PRIMARY KEY (mailbox, network)
  )`,
  `CREATE INDEX code_mails_expiry ON code_mails (expires_at)`,
  `ALTER TABLE codes ADD mail_state text NOT NULL DEFAULT 'queued'
    CHECK (mail_state IN ('queued', 'sent', 'retrying', 'refused'))`,
]

type Row = { id: string; email: string }

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db)
  await renewEmailKeys(db)
}

/**
 * Addresses are compared by their domain in ASCII and in compatibility form. A key that another
 * account has is left to it, and of two accounts that get one the older has it: the other keeps the key it had.
 */
export async function renewEmailKeys(db: Kysely<unknown>): Promise<void> {
  // Only such addresses have another key than before.
  const { rows } = await sql<Row>`SELECT id, email FROM users
    WHERE email ~ '[^\\x01-\\x7f]' OR email LIKE '%.' ORDER BY id`.execute(db)
  for (const { id, email } of rows) {
    const key = emailKey(email)
    await sql`UPDATE users SET email_key = ${key}
      WHERE id = ${id} AND NOT EXISTS (SELECT FROM users WHERE email_key = ${key})`.execute(db)
  }
}
