import { type Kysely, sql } from 'kysely'

/** A server without it closes sessions and keeps no reason. */
export const isAdditive = true

const STATEMENTS = [
  `CREATE TABLE closed_sessions (
    id uuid PRIMARY KEY,
    secret_hashes bytea[] NOT NULL,
    reason text NOT NULL,
    closed_at timestamptz NOT NULL DEFAULT now()
  )`,
]

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db)
}
