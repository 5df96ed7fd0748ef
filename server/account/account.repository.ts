import type { CurrentUser } from '../../contract/account.ts'
import type { Queryable } from '../db/database.ts'
import { emailKey } from '../db/email-key.ts'
import { isUsernameKept, keptName } from './released-usernames.repository.ts'

const CURRENT_USER = ['id', 'username', 'email'] as const

export function selectUser(db: Queryable, id: string): Promise<CurrentUser> {
  return db.selectFrom('users').select(CURRENT_USER).where('id', '=', id).executeTakeFirstOrThrow()
}

/** The user, whose row no one else changes until the transaction ends. */
export function lockUser(tx: Queryable, id: string): Promise<CurrentUser> {
  return tx
    .selectFrom('users')
    .select(CURRENT_USER)
    .where('id', '=', id)
    .forNoKeyUpdate()
    .executeTakeFirstOrThrow()
}

/**
 * The user with an e-mail, whose row no one else changes until the transaction ends. One who is leaving that e-mail just
 * then is waited for, and no longer found.
 */
export function lockUserByEmail(tx: Queryable, email: string): Promise<CurrentUser | undefined> {
  return tx
    .selectFrom('users')
    .select(CURRENT_USER)
    .where('email_key', '=', emailKey(email))
    .forNoKeyUpdate()
    .executeTakeFirst()
}

export function findUserByEmail(db: Queryable, email: string): Promise<CurrentUser | undefined> {
  return db
    .selectFrom('users')
    .select(CURRENT_USER)
    .where('email_key', '=', emailKey(email))
    .executeTakeFirst()
}

/** Adds a user; undefined when the e-mail or the username is taken, or the username kept for its former owner. */
export function insertUser(
  tx: Queryable,
  user: { email: string; username: string },
): Promise<CurrentUser | undefined> {
  return tx
    .insertInto('users')
    .columns(['username', 'email', 'email_key'])
    .expression(
      tx
        .selectNoFrom(({ val }) => [
          val(user.username).as('username'),
          val(user.email).as('email'),
          val(emailKey(user.email)).as('email_key'),
        ])
        .where(({ not, exists }) => not(exists(keptName(tx, user.username)))),
    )
    .onConflict((conflict) => conflict.doNothing())
    .returning(CURRENT_USER)
    .executeTakeFirst()
}

/** Whether a username is another user's, or kept for another user who gave it up. */
export async function isUsernameTaken(
  db: Queryable,
  username: string,
  exceptUserId: string,
): Promise<boolean> {
  const row = await db
    .selectFrom('users')
    .select('id')
    .where((eb) => eb(eb.fn<string>('lower', ['username']), '=', username.toLowerCase()))
    .where('id', '!=', exceptUserId)
    .executeTakeFirst()
  return row !== undefined || isUsernameKept(db, username, exceptUserId)
}

/** Gives a user another name; rejects with a unique violation when it is taken. */
export function updateUsername(db: Queryable, id: string, username: string): Promise<CurrentUser> {
  return db
    .updateTable('users')
    .set({ username })
    .where('id', '=', id)
    .returning(CURRENT_USER)
    .executeTakeFirstOrThrow()
}

/** Gives a user another e-mail; rejects with a unique violation when it is taken. */
export async function updateEmail(tx: Queryable, id: string, email: string): Promise<void> {
  await tx
    .updateTable('users')
    .set({ email, email_key: emailKey(email) })
    .where('id', '=', id)
    .execute()
}
