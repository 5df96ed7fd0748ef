import type { Queryable } from '../db/database.ts'
import { isRowId } from '../db/row-id.ts'
import { AppError } from '../http/app-error.ts'
import { lockPost, selectOwner } from './posts.repository.ts'

export { type PostList, readPostList } from './post-lists.repository.ts'
export { addToLikesCount } from './posts.repository.ts'
export { isRetry, publishReply, requireText } from './publish.service.ts'

/** The owner of a post; throws POST_NOT_FOUND when there is no such post. */
export async function requirePost(db: Queryable, id: string): Promise<{ ownerId: string }> {
  const post = isRowId(id) ? await selectOwner(db, id) : undefined
  if (!post) throw new AppError('POST_NOT_FOUND')
  return { ownerId: post.owner_id }
}

/**
 * Locks a post, so that its likes change one after another, and returns their number; throws POST_NOT_FOUND when there is
 * no such post.
 */
export async function lockForLikes(tx: Queryable, id: string): Promise<number> {
  const likesCount = isRowId(id) ? await lockPost(tx, id) : undefined
  if (likesCount === undefined) throw new AppError('POST_NOT_FOUND')
  return likesCount
}
