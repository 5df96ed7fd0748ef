import { reserveNamesOf } from '../account/account.service.ts'
import type { Db } from '../db/database.ts'
import { appendToJournal } from '../journal/journal.ts'
import {
  eraseArchivedPosts,
  eraseRows,
  eraseUser,
  selectReferences,
} from './account-deletion.repository.ts'

/**
 * Erases a user and every row that refers to them, in short steps; their names stay reserved as keyed hashes. Replies of
 * others stay.
 */
export async function eraseAccount(
  db: Db,
  { userId, nameKey, actor = 'vslukh' }: { userId: string; nameKey: Buffer; actor?: string },
  stopping: Promise<never>,
): Promise<void> {
  const untilNone = async (erase: () => Promise<number>) => {
    while ((await Promise.race([erase(), stopping])) > 0);
  }
  await untilNone(() => eraseArchivedPosts(db, userId))
  for (const reference of await selectReferences(db)) {
    // Its names are reserved together with the removal of the user.
    if (reference.table === 'released_usernames') continue
    await untilNone(() => eraseRows(db, reference, userId))
  }
  await db.transaction().execute(async (tx) => {
    await reserveNamesOf(tx, userId, nameKey)
    await eraseUser(tx, userId)
    await appendToJournal(tx, { actor, action: 'user.erase', userId })
  })
}
