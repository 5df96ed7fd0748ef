import { reserveNamesOf } from '../account/account.service.ts'
import { removeOperations } from '../codes/codes.service.ts'
import type { Db, Queryable } from '../db/database.ts'
import { AppError } from '../http/app-error.ts'
import { appendToJournal } from '../journal/journal.ts'
import {
  archiveOwnLikes,
  removeLikesOfDeleted,
  restoreLikesOfPosts,
  restoreOwnLikes,
  restorePost,
} from '../likes/likes.service.ts'
import { archivePostsOf, findLeftPost, restorePostsOf } from '../posts/posts.service.ts'
import { addJob } from '../queue/queue.ts'
import { deleteAllSessions } from '../sessions/sessions.service.ts'
import {
  eraseLikesOfPosts,
  eraseRows,
  eraseUser,
  lockMover,
  type Mover,
  markDeleted,
  markReturned,
  markReturning,
  selectErasure,
  selectMovers,
  selectReferences,
} from './account-deletion.repository.ts'

/**
 * Deletes an account: hides all its posts and closes its sessions at once, and queues the job that moves its rows into the
 * archive. Returns when it will be erased, in unix seconds.
 */
export async function deleteAccount(tx: Queryable, userId: string): Promise<number> {
  const erasedAt = await markDeleted(tx, userId)
  await deleteAllSessions(tx, userId)
  await removeOperations(tx, { purpose: 'email-change', userId })
  await addJob(tx, 'move-accounts', { payload: {} })
  return erasedAt
}

/**
 * Lets a person who has proved an e-mail into an account, even if it was deleted: then only with `restore`, which brings it
 * back. Throws ACCOUNT_DELETED without that, and OPERATION_EXPIRED once the account is being erased. Returns whether it
 * was brought back.
 */
export async function returnToAccount(
  tx: Queryable,
  userId: string,
  { restore }: { restore: boolean },
): Promise<boolean> {
  const erasedAt = await selectErasure(tx, userId)
  if (erasedAt === undefined) return false
  if (!restore) throw new AppError('ACCOUNT_DELETED', { message: deletedMessage(erasedAt) })
  if (!(await markReturning(tx, userId))) throw new AppError('OPERATION_EXPIRED')
  await addJob(tx, 'move-accounts', { payload: {} })
  return true
}

const DAY = new Intl.DateTimeFormat('ru-RU', { day: 'numeric', month: 'long', timeZone: 'UTC' })

function deletedMessage(erasedAt: number): string {
  const day = DAY.format(erasedAt * 1000).replace(' ', '\u00a0')
  return `Этот аккаунт удалён. До ${day} его можно вернуть вместе с записями, ответами и отметками`
}

type MoveOptions = {
  nameKey: Buffer
  /** Rejects when the process is about to end. */
  stopping: Promise<never>
  /** Invalidates cached reads on every node. */
  invalidate: () => Promise<void>
}

/**
 * Moves the rows of deleted accounts into the archive, those of returning ones back, and erases those whose time is up, in
 * short steps. It may be interrupted at any moment and may run twice at once: the next run goes on where it ended.
 */
export async function moveAccounts(
  db: Db,
  { nameKey, stopping, invalidate }: MoveOptions,
): Promise<void> {
  for (const mover of await selectMovers(db)) {
    const hasMoved =
      mover.goes === 'back'
        ? await bringBack(db, mover, stopping)
        : await moveOut(db, mover, stopping)
    if (hasMoved) await invalidate()
    if (mover.goes === 'for good') await eraseAccount(db, { userId: mover.id, nameKey }, stopping)
  }
}

type Step = { step: (tx: Queryable) => Promise<boolean>; stopping: Promise<never> }

/** Runs a step in a transaction that has locked the mover. Returns what it does; false where there is nothing to move. */
function once(db: Db, mover: Mover, { step, stopping }: Step): Promise<boolean> {
  const locked = db
    .transaction()
    .execute(async (tx) => (await lockMover(tx, mover)) && (await step(tx)))
  return Promise.race([locked, stopping])
}

/** Returns whether anything was there to move. */
async function moveOut(db: Db, mover: Mover, stopping: Promise<never>): Promise<boolean> {
  let hasMoved = false
  const archivePosts = async (tx: Queryable) => (await archivePostsOf(tx, mover.id)) > 0
  while (await once(db, mover, { step: archivePosts, stopping })) {
    hasMoved = true
    // Before the next posts, so that there are never many whose likes are still on their way.
    await removeLikesOfDeleted(db, stopping)
  }
  const archiveLikes = async (tx: Queryable) => (await archiveOwnLikes(tx, mover.id)) > 0
  while (await once(db, mover, { step: archiveLikes, stopping })) hasMoved = true
  return hasMoved
}

async function bringBack(db: Db, mover: Mover, stopping: Promise<never>): Promise<boolean> {
  const restorePosts = async (tx: Queryable) => {
    const restoreLikes = (ids: string[]) => restoreLikesOfPosts(tx, ids)
    return (await restorePostsOf(tx, mover.id, restoreLikes)) > 0
  }
  while (await once(db, mover, { step: restorePosts, stopping }));
  const restorePopular = async (tx: Queryable) => {
    const id = await findLeftPost(tx, mover.id)
    return id !== undefined && (await restorePost(tx, id)) !== 'missing'
  }
  while (await once(db, mover, { step: restorePopular, stopping }));
  let last: string | null = '0'
  const restoreLikes = async (tx: Queryable) => {
    last = await restoreOwnLikes(tx, { userId: mover.id, afterPostId: last ?? '0' })
    if (last === null) await markReturned(tx, mover.id)
    return last !== null
  }
  while (await once(db, mover, { step: restoreLikes, stopping }));
  return true
}

/** Never rejects: for work that is not interrupted. */
const NEVER = new Promise<never>(() => {})

/**
 * Erases an account now and for good, as the operator's command does: hides it at once, and moves and erases its rows in
 * short steps, which may take minutes. Interrupted, it can be run again; otherwise the job would go on in 14 days.
 */
export async function eraseNow(
  db: Db,
  { userId, nameKey, actor, invalidate }: EraseOptions,
): Promise<void> {
  await db.transaction().execute((tx) => deleteAccount(tx, userId))
  await invalidate()
  await moveOut(db, { id: userId, goes: 'for good' }, NEVER)
  await eraseAccount(db, { userId, nameKey, actor }, NEVER)
  await invalidate()
}

type EraseOptions = {
  userId: string
  nameKey: Buffer
  /** Who erases, for the journal. */
  actor: string
  /** Invalidates cached reads on every node. */
  invalidate: () => Promise<void>
}

/**
 * Erases a user and every row that refers to them, in short steps; their names stay reserved as keyed hashes. Replies of
 * others stay.
 */
async function eraseAccount(
  db: Db,
  { userId, nameKey, actor = 'vslukh' }: { userId: string; nameKey: Buffer; actor?: string },
  stopping: Promise<never>,
): Promise<void> {
  const untilNone = async (erase: () => Promise<number>) => {
    while ((await Promise.race([erase(), stopping])) > 0);
  }
  await untilNone(() => eraseLikesOfPosts(db, userId))
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
