import type { Db } from '../db/database.ts'
import { deleteNextLikes, deleteRemovedPost, selectRemovedPosts } from './likes.repository.ts'

/**
 * Removes the likes of deleted posts, some thousands in each transaction, until there are none. It can be cut short at any
 * moment and run twice at once: what is left is found again.
 */
export async function removeLikesOfDeleted(db: Db, stopping: Promise<never>): Promise<void> {
  for (const postId of await selectRemovedPosts(db)) {
    let last: string | null = '0'
    while (last !== null) last = await Promise.race([deleteNextLikes(db, postId, last), stopping])
    await deleteRemovedPost(db, postId)
  }
}
