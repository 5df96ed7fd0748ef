import type { CurrentUser } from '../../contract/account.ts'
import type { Queryable } from '../db/database.ts'
import { AppError } from '../http/app-error.ts'
import { lockUser, updateUsername } from './account.repository.ts'
import { isUsernameKept, releaseUsername } from './released-usernames.repository.ts'

/**
 * Gives a user another username and keeps the one before for them. Throws USERNAME_ALREADY_EXISTS for a name that is kept
 * for somebody else; rejects with a unique violation for one that somebody has.
 */
export async function renameUser(
  tx: Queryable,
  { userId, username }: { userId: string; username: string },
): Promise<CurrentUser> {
  const { username: old } = await lockUser(tx, userId)
  const user = await updateUsername(tx, userId, username)
  if (old.toLowerCase() === username.toLowerCase()) return user
  // Only after the update, which has waited for whoever was leaving this name just then.
  if (await isUsernameKept(tx, username, userId)) throw new AppError('USERNAME_ALREADY_EXISTS')
  await releaseUsername(tx, { username: old, userId })
  return user
}
