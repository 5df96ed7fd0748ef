import { type Kysely, sql } from 'kysely'

/** The release before reads the dropped columns. */
export const isAdditive = false

const STATEMENTS = [
  // Codes that the mail server refused because of the mailbox, by the network that asked for them.
  `CREATE TABLE mail_refusals (
    at timestamptz NOT NULL DEFAULT now(),
    network_hash bytea NOT NULL
  )`,
  `CREATE INDEX mail_refusals_network ON mail_refusals (network_hash, at)`,
  `DROP INDEX outbox_new_addresses`,
  `ALTER TABLE outbox ADD domain text`,
  `CREATE INDEX outbox_domain ON outbox (domain) WHERE payload IS NOT NULL`,
  `ALTER TABLE site_state DROP registrations_paused_until`,
]

/** Charges refused mails to networks, and keeps to which domain each mail goes. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db)
}
