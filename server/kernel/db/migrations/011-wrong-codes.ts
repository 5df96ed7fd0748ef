import { type Kysely, sql } from 'kysely'

export const isAdditive = true

/** Keeps for a day when wrong codes for a mailbox came from a network. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`ALTER TABLE code_mails ADD wrong_at timestamptz[] NOT NULL DEFAULT '{}'`.execute(db)
}
