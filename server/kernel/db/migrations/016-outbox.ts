import { type Kysely, sql } from 'kysely'

/** A server without it writes into the log of mails, which is gone. */
export const isAdditive = false

/**
 * Adds the outbox and moves the log of mails into it, and a table for recurring jobs. A mail of the
 * log that is not at its end yet is left to its job in the queue, which puts it into the outbox.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db)
}

const STATEMENTS = [
  // One row a mail, which each attempt updates. The address stands in the payload, until the mail's
  // end; then as a keyed hash and masked.
  `CREATE TABLE outbox (
    id bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
    task text NOT NULL,
    key text UNIQUE,
    payload jsonb,
    is_urgent boolean NOT NULL DEFAULT false,
    queued_at timestamptz NOT NULL DEFAULT now(),
    expires_at timestamptz NOT NULL,
    due_at timestamptz NOT NULL DEFAULT now(),
    claimed_until timestamptz,
    state text NOT NULL DEFAULT 'queued',
    at timestamptz NOT NULL DEFAULT now(),
    tries integer NOT NULL DEFAULT 0,
    is_unanswered boolean NOT NULL DEFAULT false,
    masked text NOT NULL,
    address_hash bytea,
    error text,
    reply integer,
    answer text,
    CHECK (CASE WHEN state IN ('queued', 'retrying', 'limited') THEN payload IS NOT NULL
      ELSE state IN ('sent', 'refused', 'expired') AND payload IS NULL AND key IS NULL END)
  )`,
  `CREATE INDEX outbox_due ON outbox (due_at) WHERE payload IS NOT NULL`,
  `CREATE INDEX outbox_time ON outbox (at)`,
  `CREATE INDEX outbox_address ON outbox (address_hash, at)`,
  `INSERT INTO outbox
      (task, queued_at, expires_at, due_at, state, at, tries, masked, address_hash, error, reply, answer)
    SELECT task, first_at, at, at, outcome, at, tries, masked, address_hash, error, reply, answer
    FROM mail_log WHERE outcome IN ('sent', 'refused', 'expired') ORDER BY id`,
  `DROP TABLE mail_log`,
  // The period in which each recurring job was queued last.
  `CREATE TABLE recurring_jobs (task text PRIMARY KEY, period bigint NOT NULL)`,
]
