import { type Kysely, sql } from 'kysely'

/** Likes that outlive their post until they are removed, and Idempotency-Keys that outlive theirs. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db)
}

const STATEMENTS = [
  `ALTER TABLE likes DROP CONSTRAINT likes_post_id_fkey`,
  // Deleted posts whose likes are still being removed: nearly always empty.
  `CREATE TABLE removed_posts (
    post_id bigint PRIMARY KEY,
    removed_at timestamptz NOT NULL DEFAULT now()
  )`,
]
