import { type Kysely, sql } from 'kysely'

export const isAdditive = true

const STATEMENTS = [
  `CREATE TABLE mutes (
    user_id bigint REFERENCES users ON DELETE CASCADE,
    muted_id bigint REFERENCES users ON DELETE CASCADE,
    created_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (user_id, muted_id),
    CHECK (user_id <> muted_id)
  )`,
  // Erasing an account finds those who have muted it.
  `CREATE INDEX mutes_of ON mutes (muted_id)`,
  `CREATE OR REPLACE VIEW received_replies AS
    SELECT p.recipient_id, p.received_no, p.id, p.text, p.created_at, author.username
    FROM visible_posts p JOIN users author ON author.id = p.owner_id AND author.deleted_at IS NULL
    WHERE p.received_no IS NOT NULL AND NOT EXISTS (
      SELECT FROM mutes WHERE user_id = p.recipient_id AND muted_id = p.owner_id)`,
]

/** Keeps whom each user does not want to see, and leaves them out of received replies. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db)
}
