import { DECISION_OPEN_SECONDS } from '../../../contract/constants.ts'
import { type Db, isRowId, type Queryable } from '../../kernel/db/database.ts'
import { AppError } from '../../kernel/errors/app-error.ts'
import { appendToJournal } from '../../kernel/journal/journal.ts'
import { mailboxOf } from '../../kernel/mail/email-address.ts'
import { addJob } from '../../kernel/queue/queue.ts'
import { hashMailbox } from '../account/account.service.ts'
import { closeSessions } from '../sessions/sessions.repository.ts'
import {
  blockMailbox,
  copyMailboxBlock,
  deleteBlock,
  insertBlock,
  lockBlock,
  lockEmail,
  type NewBlock,
  type StoredBlock,
  selectBlock,
  selectPossibleTwins,
  unblockMailbox,
  upsertBlock,
} from './blocks.repository.ts'

/**
 * Closes a user's sessions and lets them only read; a job does so for all accounts of the mailbox.
 * Unless `isTold` is false, the user gets a mail once nobody can undo it. Throws USER_NOT_FOUND.
 */
export async function blockUser(
  tx: Queryable,
  block: NewBlock,
  { isTold = true } = {},
): Promise<{ until: Date | null }> {
  const { userId, reason, by } = block
  await lockBlockOf(tx, userId)
  const until = await upsertBlock(tx, block)
  await closeSessionsOfBlocked(tx, userId, reason)
  const details = { until: until?.toISOString() ?? null }
  await appendToJournal(tx, { actor: by, action: 'user.block', userId, reason, details })
  await addJob(tx, 'spread-block', { payload: { userId } })
  if (isTold) {
    const afterMs = (DECISION_OPEN_SECONDS + 1) * 1000
    await addJob(tx, 'announce-block', { payload: { userId }, afterMs, key: `block ${userId}` })
  }
  return { until }
}

async function closeSessionsOfBlocked(tx: Queryable, userId: string, why: string): Promise<void> {
  const reason = `Сессия завершена модератором. Причина: ${why.replace(/\.+$/, '')}`
  await closeSessions(tx, userId, { reason })
}

async function lockBlockOf(tx: Queryable, userId: string): Promise<void> {
  if (isRowId(userId) && (await lockBlock(tx, userId))) return
  throw new AppError('USER_NOT_FOUND', { message: 'Такого пользователя нет' })
}

/** Ends a block. Returns false, and changes nothing, when there was none. Throws USER_NOT_FOUND. */
export async function unblockUser(
  tx: Queryable,
  { userId, by }: { userId: string; by: string },
): Promise<boolean> {
  await lockBlockOf(tx, userId)
  if (!(await deleteBlock(tx, userId))) return false
  await appendToJournal(tx, { actor: by, action: 'user.unblock', userId })
  await addJob(tx, 'spread-block', { payload: { userId } })
  return true
}

/** Restores the block before a decision, or none, unless the decision's own is over by now. */
export async function undoBlock(
  tx: Queryable,
  userId: string,
  { id, before }: { id: string; before: StoredBlock | null },
): Promise<void> {
  await lockBlock(tx, userId)
  if (!(await deleteBlock(tx, userId, id))) return
  if (before) await insertBlock(tx, userId, before)
  await addJob(tx, 'spread-block', { payload: { userId } })
}

/**
 * Makes the job that gives all accounts of a mailbox the same block, or none. The mailbox stays
 * blocked as long: who deletes the account and registers again is blocked still.
 */
export function createBlockSpreading(
  db: Db,
  nameKey: Buffer,
): (payload: { userId: string }) => Promise<void> {
  return ({ userId }) =>
    db.transaction().execute(async (tx) => {
      const { email, block } = (await rememberBlock(tx, userId, nameKey)) ?? {}
      if (email === undefined || block === undefined) return
      if (!block) await unblockMailbox(tx, hashMailbox(email, nameKey))
      for (const twin of await selectPossibleTwins(tx, [email])) {
        if (twin.id === userId || mailboxOf(twin.email) !== mailboxOf(email)) continue
        if (!(await lockBlock(tx, twin.id))) continue
        await deleteBlock(tx, twin.id)
        if (!block) continue
        await insertBlock(tx, twin.id, block)
        await closeSessionsOfBlocked(tx, twin.id, block.reason)
      }
    })
}

/** Blocks the mailbox of a blocked user. Returns undefined when the account has been erased. */
export async function rememberBlock(
  tx: Queryable,
  userId: string,
  nameKey: Buffer,
): Promise<{ email: string; block: StoredBlock | null } | undefined> {
  const email = await lockEmail(tx, userId)
  if (email === undefined) return undefined
  const block = await selectBlock(tx, userId)
  if (block) await blockMailbox(tx, hashMailbox(email, nameKey), block)
  return { email, block }
}

export function blockNewUser(
  tx: Queryable,
  { userId, email }: { userId: string; email: string },
  nameKey: Buffer,
): Promise<void> {
  return copyMailboxBlock(tx, userId, hashMailbox(email, nameKey))
}
