import type { PublishChange } from '../../kernel/cache/change-feed.ts'
import type { Db, Queryable } from '../../kernel/db/database.ts'
import { appendToJournal, isInJournal } from '../../kernel/journal/journal.ts'
import { reserveNamesOf } from '../account/account.service.ts'
import { erasePostsOf } from '../likes/likes.service.ts'
import { rememberBlock } from '../moderation/blocks.service.ts'
import type { AccountMove } from './account-deletion.repository.ts'
import { eraseRows, eraseUser, hasPosts, selectReferences } from './account-deletion.repository.ts'
import { hideAccount, repeatLocked } from './account-moves.service.ts'

export const ERASURE = 'user.erase'

/**
 * Posts are erased with their likes; names are reserved, and a block is remembered, with the removal
 * of the user.
 */
const ERASED_OTHERWISE = new Set(['posts', 'released_usernames', 'blocks'])

export type Erasure = {
  userId: string
  nameKey: Buffer
  publishChange: PublishChange
}

/**
 * Erases a deleted user and every row that refers to them, in short steps that lock the user, so
 * that it may be interrupted and run twice at once. It repeats, because a call still under way may
 * publish, or a moderator restore a post. Replies of others stay.
 */
export async function eraseAccount(
  db: Db,
  { userId, nameKey, publishChange }: Erasure,
  stopping?: Promise<never>,
): Promise<void> {
  const move: AccountMove = { userId, kind: 'erase' }
  const repeat = repeatLocked(db, move, stopping)
  const references = (await selectReferences(db)).filter(
    ({ table }) => !ERASED_OTHERWISE.has(table),
  )
  let hasMore = true
  while (hasMore) {
    if (await hideAccount(db, move, stopping)) await publishChange({ kind: 'edited' })
    await repeat(async (tx) => (await erasePostsOf(tx, userId)) > 0)
    for (const reference of references) {
      await repeat(async (tx) => (await eraseRows(tx, reference, userId)) > 0)
    }
    hasMore = false
    await repeat(async (tx) => {
      hasMore = await hasPosts(tx, userId)
      if (!hasMore) await eraseLastRows(tx, userId, nameKey)
      return false
    })
  }
}

async function eraseLastRows(tx: Queryable, userId: string, nameKey: Buffer): Promise<void> {
  // The user is locked: nobody places or lifts a block any more.
  await rememberBlock(tx, userId, nameKey)
  await reserveNamesOf(tx, userId, nameKey)
  await eraseUser(tx, userId)
  // An operator's command has written it before it began.
  if (await isInJournal(tx, ERASURE, userId)) return
  await appendToJournal(tx, { actor: 'vslukh', action: ERASURE, userId })
}
