import type { Db, Queryable } from '../db/database.ts'
import {
  archiveLikesOfPosts,
  archiveOwnLikes,
  removeLikesOfDeleted,
  restoreLikesOfPosts,
  restoreOwnLikes,
  restorePost,
} from '../likes/likes.service.ts'
import { archivePostsOf, findLeftPost, restorePostsOf } from '../posts/posts.service.ts'
import { lockMover, type Mover, markReturned, selectMovers } from './account-deletion.repository.ts'
import { eraseAccount } from './erase-account.ts'

type MoveOptions = {
  nameKey: Buffer
  /** Rejects when the process is about to end. */
  stopping: Promise<never>
  /** Invalidates cached reads on every node. */
  invalidate: () => Promise<void>
}

/**
 * Moves the rows of deleted accounts into the archive, those of returning ones back, and erases those whose time is up, in
 * short steps. It may be interrupted at any moment and may run twice at once: the next run goes on where it ended. An account
 * that fails keeps no other one waiting; the first failure is thrown at the end.
 */
export async function moveAccounts(
  db: Db,
  { nameKey, stopping, invalidate }: MoveOptions,
): Promise<void> {
  async function move(mover: Mover): Promise<void> {
    const hasMoved =
      mover.goes === 'back'
        ? await bringBack(db, mover, stopping)
        : await moveOut(db, mover, stopping)
    if (hasMoved) await invalidate()
    if (mover.goes === 'for good') await eraseAccount(db, { userId: mover.id, nameKey }, stopping)
  }

  const failures: unknown[] = []
  for (const mover of await selectMovers(db)) {
    await Promise.race([stopping, undefined])
    await move(mover).catch((error) => failures.push(error))
  }
  if (failures.length > 0) throw failures[0]
}

type Step = { step: (tx: Queryable) => Promise<boolean>; stopping: Promise<never> }

/** Runs a step in a transaction that has locked the mover. Returns what it does; false where there is nothing to move. */
function once(db: Db, mover: Mover, { step, stopping }: Step): Promise<boolean> {
  const locked = db
    .transaction()
    .execute(async (tx) => (await lockMover(tx, mover)) && (await step(tx)))
  return Promise.race([locked, stopping])
}

/** Moves the rows of a deleted account into the archive. Returns whether anything was there to move. */
export async function moveOut(db: Db, mover: Mover, stopping: Promise<never>): Promise<boolean> {
  let hasMoved = false
  const archivePosts = async (tx: Queryable) => {
    const archiveLikes = (ids: string[]) => archiveLikesOfPosts(tx, ids)
    return (await archivePostsOf(tx, mover.id, archiveLikes)) > 0
  }
  while (await once(db, mover, { step: archivePosts, stopping })) {
    hasMoved = true
    // Before the next posts, so that there are never many posts whose likes are still on their way.
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
