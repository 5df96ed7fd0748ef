import { type Kysely, sql } from 'kysely'
import { emailKey } from '../email-key.ts'

type Row = { id: string; email: string }

/**
 * Addresses are compared by their domain in ASCII and in compatibility form. A key that another
 * account has is left to it, and of two accounts that get one the older has it: the other keeps the key it had.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  // Only such addresses have another key than before.
  const { rows } = await sql<Row>`SELECT id, email FROM users
    WHERE email ~ '[^\\x01-\\x7f]' OR email LIKE '%.' ORDER BY id`.execute(db)
  for (const { id, email } of rows) {
    const key = emailKey(email)
    await sql`UPDATE users SET email_key = ${key}
      WHERE id = ${id} AND NOT EXISTS (SELECT FROM users WHERE email_key = ${key})`.execute(db)
  }
}
