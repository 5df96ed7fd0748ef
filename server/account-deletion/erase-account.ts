import { reserveNamesOf } from '../account/account.service.ts'
import type { Db } from '../db/database.ts'
import { appendToJournal, isInJournal } from '../journal/journal.ts'
import {
  eraseArchivedPosts,
  eraseRows,
  eraseUser,
  selectReferences,
} from './account-deletion.repository.ts'
import { repeatLocked } from './account-moves.ts'

/** The name of an erasure in the journal. */
export const ERASURE = 'user.erase'

/**
 * Erases a deleted user and every row that refers to them, in short steps; their names stay reserved as keyed hashes. Replies of
 * others stay. It may be interrupted at any moment and may run twice at once: each step locks the user.
 */
export async function eraseAccount(
  db: Db,
  { userId, nameKey }: { userId: string; nameKey: Buffer },
  stopping: Promise<never>,
): Promise<void> {
  const repeat = repeatLocked(db, { id: userId, goes: 'for good' }, stopping)
  await repeat(async (tx) => (await eraseArchivedPosts(tx, userId)) > 0)
  for (const reference of await selectReferences(db)) {
    // Its names are reserved together with the removal of the user.
    if (reference.table === 'released_usernames') continue
    await repeat(async (tx) => (await eraseRows(tx, reference, userId)) > 0)
  }
  await repeat(async (tx) => {
    await reserveNamesOf(tx, userId, nameKey)
    await eraseUser(tx, userId)
    // An operator's command has written it before it began.
    if (!(await isInJournal(tx, ERASURE, userId))) {
      await appendToJournal(tx, { actor: 'vslukh', action: ERASURE, userId })
    }
    return false
  })
}
