import { formatDay } from '../../../contract/dates.ts'
import type { Db, Queryable } from '../../kernel/db/database.ts'
import { AppError } from '../../kernel/errors/app-error.ts'
import type { Viewer } from '../../kernel/http/route.ts'
import { appendToJournal } from '../../kernel/journal/journal.ts'
import { queueMail } from '../../kernel/mail/queue-mail.ts'
import { addJob } from '../../kernel/queue/queue.ts'
import type { ServerContext } from '../../kernel/server-context.ts'
import { selectUser } from '../account/account.repository.ts'
import { removeOperations } from '../codes/codes.repository.ts'
import { type OperationStart, startOperation } from '../codes/codes.service.ts'
import { lockAndRecognise } from '../sessions/known-clients.repository.ts'
import { closeSessions } from '../sessions/sessions.repository.ts'
import { lockViewer } from '../sessions/sessions.service.ts'
import { type DeletionNotice, NOTICE_MS } from './account-deletion.mail.ts'
import { markDeleted, markReturning, selectErasureTime } from './account-deletion.repository.ts'
import {
  ERASE_ACTION,
  type TransitionOptions,
  TransitionSteps,
} from './account-transitions.service.ts'

type DeletionRequest = Pick<OperationStart, 'client' | 'ip' | 'charges'> & {
  networkHash: Buffer | null
}

export async function startDeletion(
  context: ServerContext,
  viewer: Viewer,
  { networkHash, ...request }: DeletionRequest,
): Promise<string> {
  const begin = async (tx: Queryable) => {
    const { id: userId, email } = await lockViewer(tx, viewer)
    const { clientHash } = request.client
    const user = await lockAndRecognise(tx, { clientHash, networkHash, email })
    const purpose = 'account-deletion' as const
    return { ...request, userId, email, purpose, knownBy: user?.knownBy ?? null }
  }
  return startOperation(context, begin)
}

/** Deletes an account and mails its owner. Returns the time of erasure in unix seconds. */
export async function deleteAccount(tx: Queryable, userId: string): Promise<number> {
  const erasedAt = await markDeleted(tx, userId)
  await closeAccount(tx, userId)
  const { email: to, username } = await selectUser(tx, userId)
  const expiresAt = Date.now() + NOTICE_MS
  const notice: DeletionNotice = { to, isSecurity: true, username, erasedAt, expiresAt }
  await queueMail(tx, 'send-deletion-notice', notice)
  return erasedAt
}

async function closeAccount(tx: Queryable, userId: string): Promise<void> {
  await closeSessions(tx, userId, { reason: 'Сессия завершена: аккаунт удалён' })
  await removeOperations(tx, { purpose: 'email-change', userId })
  await addJob(tx, 'move-accounts')
}

/** Returns whether a deleted account was restored. Throws ACCOUNT_DELETED without `restore`. */
export async function returnToAccount(
  tx: Queryable,
  userId: string,
  { restore }: { restore: boolean },
): Promise<boolean> {
  const erasedAt = await selectErasureTime(tx, userId)
  if (erasedAt === undefined) return false
  if (!restore) throw new AppError('ACCOUNT_DELETED', { message: deletedMessage(erasedAt) })
  if (!(await cancelDeletion(tx, userId))) throw new AppError('OPERATION_EXPIRED')
  return true
}

/** Restores a deleted account. Returns false if it is not deleted, or if it is too late. */
export async function cancelDeletion(tx: Queryable, userId: string): Promise<boolean> {
  const isReturning = await markReturning(tx, userId)
  if (isReturning) await addJob(tx, 'move-accounts')
  return isReturning
}

function deletedMessage(erasedAt: number): string {
  return `Этот аккаунт удалён. До ${formatDay(erasedAt * 1000)} его можно вернуть вместе с записями, ответами и отметками`
}

type Erasure = TransitionOptions & { userId: string; actor: string; onMarked?: () => Promise<void> }

/** Erases an account for good, which may take minutes. `onMarked` runs once nobody can return. */
export async function eraseNow(
  db: Db,
  { userId, actor, onMarked = async () => {}, ...options }: Erasure,
): Promise<void> {
  await db.transaction().execute(async (tx) => {
    await markDeleted(tx, userId, { isFinal: true })
    await closeAccount(tx, userId)
    await appendToJournal(tx, { actor, action: ERASE_ACTION, userId })
  })
  await options.publishChange({ kind: 'edited' })
  await onMarked()
  await new TransitionSteps(db, { userId, kind: 'erase' }, options).erase()
}
