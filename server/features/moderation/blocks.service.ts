import { createHmac } from 'node:crypto'
import { type Db, isRowId, type Queryable } from '../../kernel/db/database.ts'
import { AppError } from '../../kernel/errors/app-error.ts'
import { appendToJournal } from '../../kernel/journal/journal.ts'
import { mailboxOf } from '../../kernel/mail/email-address.ts'
import { queueMail } from '../../kernel/mail/queue-mail.ts'
import { addJob } from '../../kernel/queue/queue.ts'
import { closeSessions } from '../sessions/sessions.repository.ts'
import type { NewBlock, StoredBlock } from './blocks.repository.ts'
import {
  blockMailbox,
  copyMailboxBlock,
  deleteBlock,
  insertBlock,
  lockBlock,
  lockEmail,
  selectBlock,
  selectPossibleTwins,
  unblockMailbox,
  upsertBlock,
} from './blocks.repository.ts'
import { type BlockMail, mailExpiry } from './moderation.mail.ts'
import { selectEmail } from './moderators.repository.ts'

/** Blocks a user as `placeBlock` does, and mails it to them. Returns until when. */
export async function blockUser(tx: Queryable, block: NewBlock): Promise<Date | null> {
  const until = await placeBlock(tx, block)
  await mailBlock(tx, block.userId, { reason: block.reason, until })
  return until
}

/**
 * Closes a user's sessions and lets them only read; a job does so for all accounts of the mailbox.
 * Throws USER_NOT_FOUND.
 */
export async function placeBlock(tx: Queryable, block: NewBlock): Promise<Date | null> {
  const { userId, reason, by } = block
  await lockBlockOf(tx, userId)
  const until = await upsertBlock(tx, block)
  await closeSessionsOfBlocked(tx, userId, reason)
  const details = { until: until?.toISOString() ?? null }
  await appendToJournal(tx, { actor: by, action: 'user.block', userId, reason, details })
  await addJob(tx, 'spread-block', { payload: { userId } })
  return until
}

export async function mailBlock(
  tx: Queryable,
  userId: string,
  { reason, until }: { reason: string; until: Date | null },
): Promise<void> {
  const user = await selectEmail(tx, userId)
  if (!user) return
  const blockedUntil = until?.getTime() ?? null
  const mail: BlockMail = { to: user.email, expiresAt: mailExpiry(), reason, blockedUntil }
  await queueMail(tx, 'send-block-mail', mail)
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

/** The hash by which a mailbox stays blocked, however it is spelt. No username contains a space. */
function hashMailbox(email: string, nameKey: Buffer): Buffer {
  return createHmac('sha256', nameKey)
    .update(`mailbox ${mailboxOf(email)}`)
    .digest()
}
