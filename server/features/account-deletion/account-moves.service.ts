import type { Db, Queryable } from '../../kernel/db/database.ts'
import { moveLikes, moveOwnLikes } from '../likes/likes.service.ts'
import { hidePostsOf, showPostsOf } from '../posts/posts.service.ts'
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

/** Hides the posts of a deleted account, and takes its likes off their posts. Returns whether there was anything to do. */
export async function hideAccount(
  db: Db,
  mover: Mover,
  stopping: Promise<never>,
): Promise<boolean> {
  const repeat = repeatLocked(db, mover, stopping)
  const haveHiddenPosts = await repeat(
    async (tx) => (await hidePostsOf(tx, mover.id)) > 0,
    // Before the next posts, so that there are never many posts whose likes are still to follow.
    () => moveLikes(db, stopping),
  )
  return (await moveLikesOf(repeat, mover.id, true)) || haveHiddenPosts
}

/** Shows the posts of a returning account again, and lets its likes count. */
export async function showAccount(db: Db, mover: Mover, stopping: Promise<never>): Promise<void> {
  const repeat = repeatLocked(db, mover, stopping)
  await repeat(async (tx) => (await showPostsOf(tx, mover.id)) > 0)
  await moveLikesOf(repeat, mover.id, false)
  await repeat(async (tx) => {
    await markReturned(tx, mover.id)
    return false
  })
}

async function moveLikesOf(
  repeat: ReturnType<typeof repeatLocked>,
  userId: string,
  hasLeft: boolean,
): Promise<boolean> {
  let last: string | null = '0'
  let areChanged = false
  await repeat(async (tx) => {
    const moved = await moveOwnLikes(tx, { userId, afterId: last ?? '0', hasLeft })
    last = moved.last
    areChanged ||= moved.areChanged
    return last !== null
  })
  return areChanged
}
