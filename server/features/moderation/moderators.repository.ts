import { sql } from 'kysely'
import type { Queryable } from '../../kernel/db/database.ts'
import { NAMES_MODERATOR } from '../../kernel/db/sql-parts.ts'
import { emailKey } from '../../kernel/mail/email-address.ts'

export async function isModerator(db: Queryable, userId: string): Promise<boolean> {
  const row = await db
    .selectFrom('users')
    .innerJoin('moderators', (join) => join.on(NAMES_MODERATOR))
    .select('users.id')
    .where('users.id', '=', userId)
    .executeTakeFirst()
  return row !== undefined
}

export function selectEmail(db: Queryable, userId: string): Promise<{ email: string } | undefined> {
  return db.selectFrom('users').select('email').where('id', '=', userId).executeTakeFirst()
}

/** Adds a moderator. Returns false when the address was one before. */
export async function insertModerator(tx: Queryable, email: string): Promise<boolean> {
  const { numInsertedOrUpdatedRows } = await tx
    .insertInto('moderators')
    .values({ email, email_key: emailKey(email) })
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirst()
  return numInsertedOrUpdatedRows === 1n
}

/** Removes a moderator. Returns false when the address was none. */
export async function deleteModerator(tx: Queryable, email: string): Promise<boolean> {
  const { numDeletedRows } = await tx
    .deleteFrom('moderators')
    .where(sql<boolean>`lower(email COLLATE "C") = lower(${email}::text COLLATE "C")`)
    .executeTakeFirst()
  return numDeletedRows > 0n
}

/** Every moderator, with the username of the account with this address. */
export function selectModerators(db: Queryable) {
  return db
    .selectFrom('moderators')
    .leftJoin('users', (join) => join.on(NAMES_MODERATOR))
    .select(['moderators.email', 'moderators.added_at', 'users.username'])
    .orderBy('moderators.email')
    .execute()
}
