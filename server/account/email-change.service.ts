import { endOperations, spendOperation } from '../codes/codes.service.ts'
import type { Queryable } from '../db/database.ts'
import { emailKey } from '../db/email-key.ts'
import { AppError } from '../http/app-error.ts'
import type { Viewer } from '../http/authenticate.ts'
import { addJob } from '../queue/queue.ts'
import { deleteAllSessions, deleteOtherSessions } from '../sessions/sessions.service.ts'
import type { EmailNotice } from './account.mail.ts'
import { lockUser, updateEmail } from './account.repository.ts'
import {
  findEmailChangeOwner,
  insertEmailChange,
  takeEmailChange,
} from './email-changes.repository.ts'

/**
 * Moves the viewer to the e-mail that an operation has proven. It closes the other sessions, ends what they had begun, and
 * queues a notice to the old address with a link that undoes it: the change may be a theft. Throws OPERATION_EXPIRED where
 * the operation was spent or another session was quicker; rejects with a unique violation when the address is taken.
 */
export async function moveToEmail(
  tx: Queryable,
  viewer: Viewer,
  { operationId, email }: { operationId: string; email: string },
): Promise<void> {
  // Before anything else: changes and undos of one account go one after another.
  const { email: old, username } = await lockUser(tx, viewer.userId)
  await spendOperation(tx, operationId)
  await updateEmail(tx, viewer.userId, email)
  if (emailKey(old) === emailKey(email)) return
  await deleteOtherSessions(tx, viewer)
  await endOperations(tx, { purpose: 'email-change', userId: viewer.userId })
  const change = await insertEmailChange(tx, { userId: viewer.userId, oldEmail: old })
  const notice: EmailNotice = {
    to: old,
    username,
    changeId: change.id,
    expiresAt: change.expires_at.getTime(),
  }
  await addJob(tx, 'send-email-notice', { payload: notice })
}

/**
 * Gives an account the address back that it had before a change, whatever came after it, and closes all its sessions;
 * returns its id.
 * Throws LINK_EXPIRED where the change can no longer be undone; rejects with a unique violation when another account has
 * the address by now.
 */
export async function undoEmailChange(tx: Queryable, id: string): Promise<string> {
  const userId = await findEmailChangeOwner(tx, id)
  if (userId === undefined) throw new AppError('LINK_EXPIRED')
  await lockUser(tx, userId)
  const email = await takeEmailChange(tx, { id, userId })
  if (email === undefined) throw new AppError('LINK_EXPIRED')
  await updateEmail(tx, userId, email)
  await deleteAllSessions(tx, userId)
  await endOperations(tx, { purpose: 'email-change', userId })
  return userId
}
