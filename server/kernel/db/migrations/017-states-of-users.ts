import { type Kysely, sql } from 'kysely'

export const isAdditive = true

const STATEMENTS = [
  `CREATE VIEW blocks_in_force AS
    SELECT * FROM blocks WHERE coalesce(until > now(), true)`,
  // What keeps each user from writing. It is read with each call of a signed-in user.
  `CREATE VIEW write_states AS
    SELECT u.id AS user_id, u.created_at > now() - interval '1 day' AS is_newcomer,
      b.reason AS block_reason, b.until AS block_until, s.writing_closed
    FROM users u LEFT JOIN blocks_in_force b ON b.user_id = u.id CROSS JOIN site_state s`,
  // The very address but for ASCII case: a merely equal one may be somebody else's.
  `CREATE VIEW moderator_users AS
    SELECT u.id AS user_id, u.username, m.email_key
    FROM moderators m JOIN users u ON u.email_key = m.email_key
      AND lower(u.email COLLATE "C") = lower(m.email COLLATE "C")`,
]

/** Says once who is blocked now, what keeps a user from writing, and who is a moderator. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db)
}
