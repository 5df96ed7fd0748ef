import { sql } from 'kysely'
import { hasRow, type Queryable } from '../../kernel/db/database.ts'
import { emailKey } from '../../kernel/mail/email-address.ts'

export function isModerator(db: Queryable, userId: string): Promise<boolean> {
  return hasRow(db.selectFrom('moderator_users').select('user_id').where('user_id', '=', userId))
}

export function selectEmail(db: Queryable, userId: string): Promise<{ email: string } | undefined> {
  return db.selectFrom('users').select('email').where('id', '=', userId).executeTakeFirst()
}

/** Adds a moderator. Returns false when the address was one before. */
export async function insertModerator(tx: Queryable, email: string): Promise<boolean> {
  const { numAffectedRows } = await sql`INSERT INTO moderators (email, email_key)
    VALUES (${email}, ${emailKey(email)}) ON CONFLICT DO NOTHING`.execute(tx)
  return numAffectedRows === 1n
}

/** Removes a moderator. Returns false when the address was none. */
export async function deleteModerator(tx: Queryable, email: string): Promise<boolean> {
  const { numAffectedRows = 0n } = await sql`DELETE FROM moderators
    WHERE lower(email COLLATE "C") = lower(${email}::text COLLATE "C")`.execute(tx)
  return numAffectedRows > 0n
}

export function selectModerators(db: Queryable) {
  return db
    .selectFrom('moderators')
    .leftJoin('moderator_users as user', 'user.email_key', 'moderators.email_key')
    .select(['moderators.email', 'moderators.added_at', 'user.username'])
    .orderBy('moderators.email')
    .execute()
}
