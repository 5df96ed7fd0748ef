import { createHmac } from 'node:crypto'
import { isRowId, type Queryable } from '../../kernel/db/database.ts'
import { AppError } from '../../kernel/errors/app-error.ts'
import { appendToJournal } from '../../kernel/journal/journal.ts'
import { mailboxOf } from '../../kernel/mail/email-address.ts'
import { queueMail } from '../../kernel/mail/queue-mail.ts'
import { closeSessions, lockUser } from '../sessions/sessions.repository.ts'
import {
  type Block,
  blockMailbox,
  copyBlock,
  deleteBlocks,
  lockBlocks,
  type NewBlock,
  selectBlock,
  selectRepeatedBlock,
  unblockMailbox,
  upsertBlocks,
} from './blocks.repository.ts'
import type { BlockMail } from './moderation.mail.ts'
import { selectEmail } from './moderators.repository.ts'

/** Blocks a user and mails a notice. Returns the end of the block; null if it has none. */
export async function blockUser(tx: Queryable, block: NewBlock): Promise<Date | null> {
  const placed = await placeBlock(tx, block)
  if (!placed.isRepeated) await mailBlock(tx, block.userId, placed)
  return placed.until
}

/**
 * Blocks all accounts of a user's mailbox and closes their sessions, unless the block is repeated
 * because its answer was lost. Throws USER_NOT_FOUND.
 */
export async function placeBlock(
  tx: Queryable,
  block: NewBlock,
): Promise<Block & { isRepeated: boolean }> {
  const { userId, reason, by } = block
  const mailbox = await lockMailboxOf(tx, userId)
  const repeated = await selectRepeatedBlock(tx, block)
  if (repeated) return { ...repeated, isRepeated: true }
  const { userIds, until } = await upsertBlocks(tx, { ...block, mailbox })
  const why = `Сессия завершена модератором. Причина: ${reason.replace(/\.+$/, '')}`
  for (const id of userIds) await closeSessions(tx, id, { reason: why })
  const details = { until: until?.toISOString() ?? null }
  await appendToJournal(tx, { actor: by, action: 'user.block', userId, reason, details })
  return { reason, until, isRepeated: false }
}

export async function mailBlock(
  tx: Queryable,
  userId: string,
  { reason, until }: Block,
): Promise<void> {
  const user = await selectEmail(tx, userId)
  if (!user) return
  const blockedUntil = until?.getTime() ?? null
  const mail: BlockMail = { to: user.email, reason, blockedUntil }
  await queueMail(tx, 'send-block-mail', mail)
}

async function lockMailboxOf(tx: Queryable, userId: string): Promise<string> {
  const user = isRowId(userId) ? await lockUser(tx, userId) : undefined
  if (!user) throw new AppError('USER_NOT_FOUND', { message: 'Такого пользователя нет' })
  const mailbox = mailboxOf(user.email)
  await lockBlocks(tx, mailbox)
  return mailbox
}

/** Returns false if no account of the user's mailbox was blocked. Throws USER_NOT_FOUND. */
export async function unblockUser(
  tx: Queryable,
  { userId, by, nameKey }: { userId: string; by: string; nameKey: Buffer },
): Promise<boolean> {
  const mailbox = await lockMailboxOf(tx, userId)
  if (!(await deleteBlocks(tx, { userId, mailbox }))) return false
  await unblockMailbox(tx, hashMailbox(mailbox, nameKey))
  await appendToJournal(tx, { actor: by, action: 'user.unblock', userId })
  return true
}

/** Stores the block of a user who is about to be erased, for later accounts of the mailbox. */
export async function rememberBlock(tx: Queryable, userId: string, nameKey: Buffer): Promise<void> {
  const block = await selectBlock(tx, userId)
  const user = block && (await selectEmail(tx, userId))
  if (user) await blockMailbox(tx, hashMailbox(mailboxOf(user.email), nameKey), block)
}

/** Blocks a new account if another of its mailbox, even an erased one, is blocked. */
export async function inheritBlock(
  tx: Queryable,
  { userId, email }: { userId: string; email: string },
  nameKey: Buffer,
): Promise<void> {
  const mailbox = mailboxOf(email)
  await lockBlocks(tx, mailbox)
  await copyBlock(tx, { userId, mailbox }, hashMailbox(mailbox, nameKey))
}

/** Returns the hash by which a mailbox stays blocked. No username has a space, so none collides. */
function hashMailbox(mailbox: string, nameKey: Buffer): Buffer {
  return createHmac('sha256', nameKey).update(`mailbox ${mailbox}`).digest()
}
