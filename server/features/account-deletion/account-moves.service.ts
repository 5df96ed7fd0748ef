import type { Db, Queryable } from '../../kernel/db/database.ts'
import { moveOwnLikes } from '../likes/likes.repository.ts'
import { moveLikes } from '../likes/likes.service.ts'
import { hidePostsOf, showPostsOf } from '../posts/posts.service.ts'
import { type AccountMove, lockAccount, markReturned } from './account-deletion.repository.ts'

type Step = (tx: Queryable) => Promise<boolean>

/**
 * Makes a function that repeats a step until it finds nothing more to do, each time in a
 * transaction that has locked the account. It returns whether anything was done.
 */
export function repeatLocked(db: Db, move: AccountMove, stopping?: Promise<never>) {
  return async (step: Step, afterEach = async () => {}): Promise<boolean> => {
    let hasDoneAny = false
    for (;;) {
      const once = db
        .transaction()
        .execute(async (tx) => (await lockAccount(tx, move)) && (await step(tx)))
      if (!(await Promise.race([once, stopping ?? once]))) return hasDoneAny
      hasDoneAny = true
      await afterEach()
    }
  }
}

/** Hides the posts and likes of a deleted account. Returns whether there was anything to do. */
export async function hideAccount(
  db: Db,
  move: AccountMove,
  stopping?: Promise<never>,
): Promise<boolean> {
  const repeat = repeatLocked(db, move, stopping)
  const haveHiddenPosts = await repeat(
    (tx) => hidePostsOf(tx, move.userId),
    // Before the next posts, so that there are never many posts whose likes are still to follow.
    () => moveLikes(db, stopping),
  )
  return (await moveLikesOf(repeat, move.userId, true)) || haveHiddenPosts
}

export async function showAccount(
  db: Db,
  move: AccountMove,
  stopping?: Promise<never>,
): Promise<void> {
  const repeat = repeatLocked(db, move, stopping)
  await repeat((tx) => showPostsOf(tx, move.userId))
  await moveLikesOf(repeat, move.userId, false)
  await repeat(async (tx) => {
    await markReturned(tx, move.userId)
    return false
  })
}

function moveLikesOf(
  repeat: ReturnType<typeof repeatLocked>,
  userId: string,
  hasLeft: boolean,
): Promise<boolean> {
  let afterId = '0'
  return repeat(async (tx) => {
    const last = await moveOwnLikes(tx, { userId, afterId, hasLeft })
    afterId = last ?? afterId
    return last !== null
  })
}
