import { batchWrites, type Written } from '../db/batch-writes.ts'
import { type Db, isRowId, type Queryable } from '../db/database.ts'
import { AppError } from '../http/app-error.ts'
import {
  deleteExpired,
  findExpired,
  lockArchived,
  lockReplied,
  markRestoring,
  putBack,
  selectRestoring,
} from '../posts/posts.service.ts'
import { addJob } from '../queue/queue.ts'
import {
  changeLikes,
  type DesiredLike,
  deleteArchivedLikes,
  deleteRemovedPost,
  LIKES_STEP,
  removeNextLikes,
  restoreNextLikes,
  selectRemovedPosts,
} from './likes.repository.ts'
import {
  archiveLikesOfPosts,
  archiveOwnLikes,
  restoreLikesOfPosts,
  restoreOwnLikes,
} from './own-likes.repository.ts'

// Other features call these as they are.
export { archiveLikesOfPosts, archiveOwnLikes, restoreLikesOfPosts, restoreOwnLikes }

type LikeOfPost = DesiredLike & { postId: string }

/**
 * Makes a function that sets a user's like of a post and returns the post's number of likes afterwards. Calls for one post that
 * come while a statement on it runs share the next one, so that the row of a popular post is locked and flushed once for all
 * of them. The function rejects with POST_NOT_FOUND when there is no such post.
 */
export function batchLikes(db: Db): (postId: string, like: DesiredLike) => Promise<number> {
  const setLike = batchWrites({
    keyOf: ({ postId }: LikeOfPost) => postId,
    write: (likes: LikeOfPost[]) => setLikes(db, likes),
  })
  return (postId, like) => setLike({ postId, ...like })
}

/** Sets the last desired state of each user, for likes of one post. Returns its number of likes for each. */
async function setLikes(db: Db, likes: LikeOfPost[]): Promise<Written<number>> {
  const postId = likes[0]?.postId ?? ''
  const last = [...new Map(likes.map((like) => [like.userId, like])).values()]
  const set = isRowId(postId) ? await changeLikes(db, postId, last) : undefined
  if (!set) throw new AppError('POST_NOT_FOUND')
  return { results: likes.map(() => set.likesCount), isChanged: set.isChanged }
}

/**
 * Removes the likes of deleted posts and archives those of archived ones, some thousands in each transaction, until there are
 * none. It may be interrupted at any moment and may run twice at once: the next run finds what is left.
 */
export async function removeLikesOfDeleted(db: Db, stopping: Promise<never>): Promise<void> {
  for (const post of await selectRemovedPosts(db)) {
    let last: string | null = '0'
    while (last !== null) last = await Promise.race([removeNextLikes(db, post, last), stopping])
    await deleteRemovedPost(db, post)
  }
}

/**
 * Puts an archived post back with its id, its likes and exact counts. A post with more archived likes than one step moves
 * appears once the job `restore-posts` has moved them all. Returns which, or `missing` where it cannot be restored.
 */
export async function restorePost(
  tx: Queryable,
  id: string,
): Promise<'restored' | 'restoring' | 'missing'> {
  const post = await lockArchived(tx, id)
  if (!post || post.why === 'deleted') return 'missing'
  if (await takeRestoreStep(tx, id)) return 'restored'
  await markRestoring(tx, id)
  await addJob(tx, 'restore-posts', { payload: {} })
  return 'restoring'
}

/** Returns whether the post is back. */
async function takeRestoreStep(tx: Queryable, id: string): Promise<boolean> {
  await lockReplied(tx, [id])
  if ((await restoreNextLikes(tx, id)) === LIKES_STEP) return false
  await putBack(tx, id)
  return true
}

/**
 * Goes on with restoring posts whose likes are too many for one step, as removeLikesOfDeleted goes on with removals.
 * `invalidate` is called after each post that is back.
 */
export async function restorePosts(
  db: Db,
  { stopping, invalidate }: { stopping: Promise<never>; invalidate: () => Promise<void> },
): Promise<void> {
  for (const id of await selectRestoring(db)) {
    const step = () =>
      db.transaction().execute(async (tx) => {
        const post = await lockArchived(tx, id)
        return !post?.is_restoring || takeRestoreStep(tx, id)
      })
    while (!(await Promise.race([step(), stopping])));
    await invalidate()
  }
}

/** Deletes archived posts that have expired for good, with their likes in steps. */
export async function purgeArchive(db: Db): Promise<void> {
  for (let id = await findExpired(db); id !== undefined; id = await findExpired(db)) {
    while ((await deleteArchivedLikes(db, id)) > 0);
    await deleteExpired(db, id)
  }
}
