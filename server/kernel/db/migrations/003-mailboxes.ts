import { type Kysely, sql } from 'kysely'
import { emailKey } from '../../mail/email-address.ts'

const STATEMENTS = [
  // The rate limit on code mails is counted here, by mailbox and network as keyed hashes.
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

export const isAdditive = false

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db)
  await recomputeEmailKeys(db)
}

/**
 * Computes the keys by which addresses are compared: their domain in ASCII, all in compatibility
 * form. Where another account has the new key already, an account keeps its old one; of two with
 * the same new key the older gets it.
 */
export async function recomputeEmailKeys(db: Kysely<unknown>): Promise<void> {
  // The keys of other addresses do not change.
  const { rows } = await sql<Row>`SELECT id, email FROM users
    WHERE email ~ '[^\\x01-\\x7f]' OR email LIKE '%.' ORDER BY id`.execute(db)
  for (const { id, email } of rows) {
    const key = emailKey(email)
    await sql`UPDATE users SET email_key = ${key}
      WHERE id = ${id} AND NOT EXISTS (SELECT FROM users WHERE email_key = ${key})`.execute(db)
  }
}
