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
import { lockMover, type Mover, markReturned } from './account-deletion.repository.ts'

/** A short part of moving an account. Returns whether it found anything to do. */
type Step = (tx: Queryable) => Promise<boolean>

/**
 * Makes the function that repeats a step until it finds nothing more to do, each time in a transaction of its own that has
 * locked the account. It returns whether anything was done, awaits `afterEach` between the steps, and rejects as soon as
 * `stopping` does.
 */
export function repeatLocked(db: Db, mover: Mover, stopping: Promise<never>) {
  return async (step: Step, afterEach = async () => {}): Promise<boolean> => {
    const once = () =>
      db.transaction().execute(async (tx) => (await lockMover(tx, mover)) && (await step(tx)))
    let hasDoneAny = false
    while (await Promise.race([once(), stopping])) {
      hasDoneAny = true
      await afterEach()
    }
    return hasDoneAny
  }
}

/** Moves the rows of a deleted account into the archive. Returns whether anything was there to move. */
export async function moveOut(db: Db, mover: Mover, stopping: Promise<never>): Promise<boolean> {
  const repeat = repeatLocked(db, mover, stopping)
  const haveMovedPosts = await repeat(
    async (tx) => {
      const archiveLikes = (ids: string[]) => archiveLikesOfPosts(tx, ids)
      return (await archivePostsOf(tx, mover.id, archiveLikes)) > 0
    },
    // Before the next posts, so that there are never many posts whose likes are still on their way.
    () => removeLikesOfDeleted(db, stopping),
  )
  const haveMovedLikes = await repeat(async (tx) => (await archiveOwnLikes(tx, mover.id)) > 0)
  return haveMovedPosts || haveMovedLikes
}

/** Moves the rows of a returning account back from the archive. */
export async function bringBack(db: Db, mover: Mover, stopping: Promise<never>): Promise<void> {
  const repeat = repeatLocked(db, mover, stopping)
  await repeat(async (tx) => {
    const restoreLikes = (ids: string[]) => restoreLikesOfPosts(tx, ids)
    return (await restorePostsOf(tx, mover.id, restoreLikes)) > 0
  })
  // Posts with very many likes come one by one.
  await repeat(async (tx) => {
    const id = await findLeftPost(tx, mover.id)
    return id !== undefined && (await restorePost(tx, id)) !== 'missing'
  })
  let last: string | null = '0'
  await repeat(async (tx) => {
    last = await restoreOwnLikes(tx, { userId: mover.id, afterPostId: last ?? '0' })
    if (last === null) await markReturned(tx, mover.id)
    return last !== null
  })
}
