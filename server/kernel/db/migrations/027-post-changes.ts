import { type Kysely, sql } from 'kysely'

/** A server without it does not read the table. */
export const isAdditive = true

const STATEMENTS = [
  `CREATE TABLE post_changes (
    number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    xid xid8 NOT NULL DEFAULT pg_current_xact_id() UNIQUE
  )`,
  `CREATE FUNCTION note_post_change() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      INSERT INTO post_changes DEFAULT VALUES ON CONFLICT DO NOTHING;
      RETURN NULL;
    END $$`,
  // Likes and counts are other columns, whose updates do not reach the trigger.
  `CREATE TRIGGER post_changed AFTER UPDATE OF text, hidden_for ON posts FOR EACH ROW
    WHEN ((old.hidden_for IS NULL OR new.hidden_for IS NULL)
      AND (old.text, old.hidden_for) IS DISTINCT FROM (new.text, new.hidden_for))
    EXECUTE FUNCTION note_post_change()`,
  `CREATE TRIGGER post_gone AFTER DELETE ON posts FOR EACH ROW
    WHEN (old.hidden_for IS NULL) EXECUTE FUNCTION note_post_change()`,
  `CREATE TRIGGER owner_changed AFTER UPDATE OF username, deleted_at ON users FOR EACH ROW
    WHEN ((old.username, old.deleted_at) IS DISTINCT FROM (new.username, new.deleted_at))
    EXECUTE FUNCTION note_post_change()`,
]

/** Keeps a row for each transaction that changed what posts show, but for those that added some. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db)
}
