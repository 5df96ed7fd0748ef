import { randomInt } from 'node:crypto'
import type { CurrentUser } from '../../contract/account.ts'
import type { Queryable } from '../db/database.ts'
import { insertUser, lockUserByEmail } from './account.repository.ts'
import { removeExpiredEmailChanges } from './email-changes.repository.ts'
import { removeExpiredReleases } from './released-usernames.repository.ts'

export { findUserByEmail, lockUserByEmail } from './account.repository.ts'

const NAME_TRIES = 5

export type FoundUser = CurrentUser & { isNew?: boolean }

/**
 * The user with an e-mail, made with a free generated name where there is none. Two registrations of one e-mail at
 * once end with one user.
 */
export async function findOrCreateUser(tx: Queryable, email: string): Promise<FoundUser> {
  for (let tries = 0; tries < NAME_TRIES; tries++) {
    const known = await lockUserByEmail(tx, email)
    const user = known ?? (await insertUser(tx, { email, username: generatedName() }))
    if (user) return { ...user, isNew: !known }
  }
  throw new Error('no free username was found')
}

/** Removes what accounts no longer need: addresses that nobody can go back to, names that are anybody's again. */
export async function removeExpiredAccountRows(db: Queryable): Promise<void> {
  await removeExpiredEmailChanges(db)
  await removeExpiredReleases(db)
}

function generatedName(): string {
  return `user_${randomInt(36 ** 7)
    .toString(36)
    .padStart(7, '0')}`
}
