import type { Queryable } from '../db/database.ts'
import { appendToJournal } from '../journal/journal.ts'
import { deleteAllSessions } from '../sessions/sessions.service.ts'
import {
  deleteBlock,
  type NewBlock,
  removeExpiredBlocks,
  replaceBlock,
  selectBlock,
  upsertBlock,
} from './blocks.repository.ts'

// Others call these as they are.
export { removeExpiredBlocks, replaceBlock, selectBlock }

/** Closes a user's sessions, and lets them publish nothing from the next call on. Returns until when. */
export async function blockUser(tx: Queryable, block: NewBlock): Promise<{ until: Date | null }> {
  const { userId, reason, by } = block
  const { until } = await upsertBlock(tx, block)
  await deleteAllSessions(tx, userId)
  const details = { until: until?.toISOString() ?? null }
  await appendToJournal(tx, { actor: by, action: 'user.block', userId, reason, details })
  return { until }
}

/** Takes a block back. Returns false, and changes nothing, where there was none. */
export async function unblockUser(
  tx: Queryable,
  { userId, by }: { userId: string; by: string },
): Promise<boolean> {
  if (!(await deleteBlock(tx, userId))) return false
  await appendToJournal(tx, { actor: by, action: 'user.unblock', userId })
  return true
}
