import { type Kysely, sql } from 'kysely'

export const isAdditive = true

const STATEMENTS = [
  // Bans on what is no network were never in force. PostgreSQL 14 and 15 tell them by the error
  // alone.
  `DO $$
  DECLARE ban record;
  BEGIN
    FOR ban IN SELECT id, value FROM bans WHERE kind = 'network' LOOP
      BEGIN
        PERFORM ban.value::inet;
      EXCEPTION WHEN invalid_text_representation THEN
        DELETE FROM bans WHERE id = ban.id;
      END;
    END LOOP;
  END $$`,
  `ALTER TABLE bans ADD network inet
    GENERATED ALWAYS AS (CASE kind WHEN 'network' THEN value::inet END) STORED`,
]

/** Keeps the network of a ban as PostgreSQL compares it, and refuses values that are none. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db)
}
