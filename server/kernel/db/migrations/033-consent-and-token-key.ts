import { type Kysely, sql } from 'kysely'

export const isAdditive = true

const STATEMENTS = [
  `CREATE TABLE consent_texts (
    version text PRIMARY KEY,
    text text NOT NULL,
    since timestamptz NOT NULL DEFAULT now()
  )`,
  `ALTER TABLE users ADD COLUMN consented_at timestamptz,
    ADD COLUMN consent_version text REFERENCES consent_texts`,
  `UPDATE users SET network_hash = substring(network_hash FROM 1 FOR 3) WHERE network_hash IS NOT NULL`,
  `CREATE INDEX users_network ON users (network_hash, created_at) WHERE network_hash IS NOT NULL`,
  // No backup contains it, so that none can forge access tokens.
  `CREATE TABLE access_token_key (
    is_only boolean PRIMARY KEY DEFAULT true CHECK (is_only),
    key bytea NOT NULL DEFAULT sha256(uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid()))
  )`,
  'INSERT INTO access_token_key DEFAULT VALUES',
  // A block ends a moderator's powers.
  `CREATE OR REPLACE VIEW moderator_users AS
    SELECT u.id AS user_id, u.username, m.email_key
    FROM moderators m JOIN users u ON u.email_key = m.email_key
      AND lower(u.email COLLATE "C") = lower(m.email COLLATE "C")
    WHERE NOT EXISTS (SELECT FROM blocks_in_force b WHERE b.user_id = u.id)`,
]

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db)
}
