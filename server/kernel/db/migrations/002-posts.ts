import { type Kysely, sql } from 'kysely'

export const isAdditive = false

/** Lets likes stay for a while after their post is deleted, and idempotency keys after theirs. */
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

  // post_id has no foreign key: a retry must find the key of a post that was deleted meanwhile.
  `CREATE TABLE idempotency_keys (
    owner_id bigint NOT NULL REFERENCES users ON DELETE CASCADE,
    key text NOT NULL,
    post_id bigint NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (owner_id, key)
  )`,
  `INSERT INTO idempotency_keys (owner_id, key, post_id, created_at)
    SELECT owner_id, idempotency_key, id, created_at FROM posts
    WHERE idempotency_key IS NOT NULL AND created_at > now() - interval '1 day'`,
  // Dropping the column also drops its index.
  `ALTER TABLE posts DROP COLUMN idempotency_key`,
]
