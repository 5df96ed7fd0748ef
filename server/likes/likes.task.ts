import type { Db } from '../db/database.ts'
import { deleteNextLikes, deleteRemovedPost, selectRemovedPosts } from './likes.repository.ts'

/**
 * Removes the likes of deleted posts, some thousands in each transaction, until there are none. It may be interrupted at any
 * moment and may run twice at once: the next run finds what is left.
 */
export async function removeLikesOfDeleted(db: Db, stopping: Promise<never>): Promise<void> {
  for (const postId of await selectRemovedPosts(db)) {
    let last: string | null = '0'
    while (last !== null) last = await Promise.race([deleteNextLikes(db, postId, last), stopping])
    await deleteRemovedPost(db, postId)
  }
}
