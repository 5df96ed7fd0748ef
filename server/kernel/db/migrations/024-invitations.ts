import { type Kysely, sql } from 'kysely'

/** A server without it uses an invitation up at once, and lets everybody in who needs one. */
export const isAdditive = true

const STATEMENTS = [
  // A reason in `registrations_closed` comes first.
  `ALTER TABLE site_state ADD is_invite_only boolean NOT NULL DEFAULT false`,
  `ALTER TABLE invitations
    ADD id bigint GENERATED ALWAYS AS IDENTITY UNIQUE,
    ADD note text,
    ADD uses integer NOT NULL DEFAULT 1,
    ADD uses_left integer NOT NULL DEFAULT 1 CHECK (uses_left BETWEEN 0 AND uses)`,
]

/** Lets registrations be by invitation alone, and several people use one invitation. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db)
}
