import { type Kysely, sql } from 'kysely'

export const isAdditive = true

const STATEMENTS = [
  `ALTER TABLE outbox ADD is_to_new_address boolean NOT NULL DEFAULT false,
    DROP CONSTRAINT outbox_check,
    ADD CONSTRAINT outbox_check CHECK (CASE
      WHEN state IN ('queued', 'retrying', 'limited', 'slowed') THEN payload IS NOT NULL
      ELSE state IN ('sent', 'refused', 'expired') AND payload IS NULL AND key IS NULL END)`,
  `CREATE INDEX outbox_new_addresses ON outbox (at) WHERE is_to_new_address`,
  `ALTER TABLE site_state ADD mails_refused_at timestamptz, ADD registrations_paused_until timestamptz`,
]

/** Keeps which mails went to addresses without an account, and what followed from refusals. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db)
}
