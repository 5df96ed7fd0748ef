import type { CurrentUser } from '../../contract/account.ts'
import { emailKey } from '../../contract/email.ts'
import type { Queryable } from '../db/open.ts'

const CURRENT_USER = ['id', 'username', 'email'] as const

export function selectUser(db: Queryable, id: string): Promise<CurrentUser> {
  return db.selectFrom('users').select(CURRENT_USER).where('id', '=', id).executeTakeFirstOrThrow()
}

export function findUserByEmail(db: Queryable, email: string): Promise<CurrentUser | undefined> {
  return db
    .selectFrom('users')
    .select(CURRENT_USER)
    .where('email_key', '=', emailKey(email))
    .executeTakeFirst()
}

/** Adds a user; undefined when the e-mail or the username is taken. */
export function insertUser(
  tx: Queryable,
  user: { email: string; username: string },
): Promise<CurrentUser | undefined> {
  return tx
    .insertInto('users')
    .values({ ...user, email_key: emailKey(user.email) })
    .onConflict((conflict) => conflict.doNothing())
    .returning(CURRENT_USER)
    .executeTakeFirst()
}

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
  return row !== undefined
}

/** Gives a user another name; undefined where it is theirs already. Rejects with a unique violation when it is taken. */
export function updateUsername(
  db: Queryable,
  id: string,
  username: string,
): Promise<CurrentUser | undefined> {
  return db
    .updateTable('users')
    .set({ username })
    .where('id', '=', id)
    .where('username', '!=', username)
    .returning(CURRENT_USER)
    .executeTakeFirst()
}

/** Gives a user another e-mail; rejects with a unique violation when it is taken. */
export async function updateEmail(tx: Queryable, id: string, email: string): Promise<void> {
  await tx
    .updateTable('users')
    .set({ email, email_key: emailKey(email) })
    .where('id', '=', id)
    .execute()
}
