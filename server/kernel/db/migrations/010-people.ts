import { type Kysely, sql } from 'kysely'

export const isAdditive = true

/** Keeps from which network an account was registered, and which mailboxes are blocked. */
export async function up(db: Kysely<unknown>): Promise<void> {
  // A keyed hash. Null: registered before, or from the machine itself.
  await sql`ALTER TABLE users ADD network_hash bytea`.execute(db)
  // Keyed hashes of the mailboxes of blocked users, so that a block outlives the account. Without
  // an end it lasts until it is taken back.
  await sql`CREATE TABLE blocked_mailboxes (
    mailbox_hash bytea PRIMARY KEY,
    reason text NOT NULL,
    until timestamptz
  )`.execute(db)
}
