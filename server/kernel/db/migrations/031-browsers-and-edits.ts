import { type Kysely, sql } from 'kysely'

/** A server without it opens sessions without a browser and stores no time of an edit. */
export const isAdditive = true

const STATEMENTS = [
  `ALTER TABLE sessions ADD COLUMN browser_hash bytea,
    ADD COLUMN is_token_lost boolean NOT NULL DEFAULT false`,
  // A fingerprint, which is the same on every site, makes no browser known any more.
  `DELETE FROM known_clients`,
  `ALTER TABLE posts ADD COLUMN modified_at timestamptz`,
  `CREATE OR REPLACE VIEW visible_posts AS SELECT * FROM posts WHERE hidden_for IS NULL`,
]

/** Binds sessions to the browser's cookie too, and stores when a post was edited. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db)
}
