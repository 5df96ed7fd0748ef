import type { Post } from '../../contract/posts.ts'
import { parsePostText } from '../../contract/text.ts'
import { type Db, isRowId, type Queryable } from '../db/database.ts'
import { AppError } from '../http/app-error.ts'
import { addJob } from '../queue/queue.ts'
import { hydratePost, type PostViewer } from './hydrate-posts.ts'
import {
  archiveOwnerPosts,
  lockLeftPosts,
  lockOwnerPosts,
  restoreOwnerPosts,
} from './owner-posts.repository.ts'
import { readPostList, repliesOf, repliesTo } from './post-lists.ts'
import {
  addToLikesCount,
  countReply,
  type Edit,
  findByIdempotencyKey,
  insertPost,
  insertReply,
  lockOwnPost,
  lockPost,
  type NewPost,
  removePost,
  selectEdited,
  selectOwner,
  updateText,
} from './posts.repository.ts'

// Other features call these as they are.
export { readPostList, repliesOf, repliesTo }

/** A post as `viewer` sees it. Throws POST_NOT_FOUND when there is no such post. */
export async function requirePost(db: Queryable, id: string, viewer: PostViewer): Promise<Post> {
  const post = isRowId(id) ? await hydratePost(db, id, viewer) : undefined
  if (!post) throw new AppError('POST_NOT_FOUND')
  return post
}

/** The id of a post's owner. Throws POST_NOT_FOUND when there is no such post. */
export async function requireOwner(db: Queryable, id: string): Promise<string> {
  const post = isRowId(id) ? await selectOwner(db, id) : undefined
  if (!post) throw new AppError('POST_NOT_FOUND')
  return post.owner_id
}

/** The text as it is stored. Throws INVALID_REQUEST when it may not be published. */
export function requireText(raw: string): string {
  const text = parsePostText(raw)
  if (text === null) {
    throw new AppError('INVALID_REQUEST', {
      message: 'Текст записи — от 1 до 500 видимых символов',
    })
  }
  return text
}

/** Whether a user has published with this Idempotency-Key before, so that publishing again would change nothing. */
export async function isRetry(db: Db, { ownerId, idempotencyKey }: NewPost): Promise<boolean> {
  if (idempotencyKey === undefined) return false
  return (await findByIdempotencyKey(db, ownerId, idempotencyKey)) !== undefined
}

/** A post, and whether this call published it: a retry returns the post of the first call. */
type Published = { post: Post; isNew: boolean }

/**
 * Publishes a post on the wall, or returns the post that was published with the same key. Throws POST_NOT_FOUND when that
 * post has been deleted.
 */
export async function publishPost(db: Db, newPost: NewPost): Promise<Published> {
  const post = await insertPost(db, newPost)
  return post ? { post, isNew: true } : { post: await findPublished(db, newPost), isNew: false }
}

/** Publishes a reply in the same way. Throws POST_NOT_FOUND also when the replied post does not exist. */
export async function publishReply(
  db: Db,
  repliedId: string,
  newPost: NewPost,
): Promise<Published> {
  if (!isRowId(repliedId)) throw new AppError('POST_NOT_FOUND')
  const id = await db
    .transaction()
    .execute(async (tx) => {
      const rootId = await countReply(tx, repliedId)
      if (rootId === undefined) throw new AppError('POST_NOT_FOUND')
      const replyId = await insertReply(tx, { ...newPost, repliedId, rootId })
      // Roll back: the replied post has counted this reply before.
      if (replyId === undefined) throw new KeyUsed()
      return replyId
    })
    .catch((error: unknown) => {
      // A retry may come after the replied post was deleted, and still finds the reply by its key.
      if (error instanceof KeyUsed || error instanceof AppError) return undefined
      throw error
    })
  if (id === undefined) return { post: await findPublished(db, newPost), isNew: false }
  return { post: await requirePost(db, id, { userId: newPost.ownerId }), isNew: true }
}

class KeyUsed extends Error {}

/** The post its owner has published with the same key. Throws POST_NOT_FOUND when it does not exist any more. */
async function findPublished(db: Db, { ownerId, idempotencyKey }: NewPost): Promise<Post> {
  const id = idempotencyKey && (await findByIdempotencyKey(db, ownerId, idempotencyKey))
  return requirePost(db, id || '', { userId: ownerId })
}

/**
 * Changes the text of one's own post. Throws POST_NOT_FOUND when the owner has no such post, EDIT_PERIOD_EXPIRED, and
 * INVALID_REQUEST when the text is the same as before.
 */
export async function editPost(db: Db, edit: Edit): Promise<void> {
  if (!isRowId(edit.id)) throw new AppError('POST_NOT_FOUND')
  if (await updateText(db, edit)) return
  const post = await selectEdited(db, edit)
  if (!post) throw new AppError('POST_NOT_FOUND')
  if (post.is_late) throw new AppError('EDIT_PERIOD_EXPIRED')
  throw new AppError('INVALID_REQUEST', { message: 'Текст не изменился' })
}

/**
 * Deletes one's own post, whose likes leave every list and total at once. A job removes their rows in steps, because a popular
 * post has more of them than one transaction can remove within its time limit. Throws POST_NOT_FOUND when the owner has
 * no such post.
 */
export async function deletePost(db: Db, id: string, ownerId: string): Promise<void> {
  await db.transaction().execute(async (tx) => {
    const isOwn = isRowId(id) && (await lockOwnPost(tx, id, ownerId))
    if (!isOwn) throw new AppError('POST_NOT_FOUND')
    const { hasLikes } = await removePost(tx, id)
    if (hasLikes) await addJob(tx, 'remove-likes', { payload: {} })
  })
}

/**
 * Locks a post, so that its likes change one transaction after another, and adds to its number of likes what `change`
 * resolves to. Returns the new number. Throws POST_NOT_FOUND when there is no such post.
 */
export async function changeLikesCount(
  tx: Queryable,
  id: string,
  change: () => Promise<number>,
): Promise<number> {
  const before = isRowId(id) ? await lockPost(tx, id) : undefined
  if (before === undefined) throw new AppError('POST_NOT_FOUND')
  const difference = await change()
  return difference === 0 ? before : addToLikesCount(tx, id, difference)
}

/**
 * Moves some hundreds of the newest posts of a user who has left into the archive. Returns how many: none when there are no
 * more.
 */
export async function archivePostsOf(tx: Queryable, ownerId: string): Promise<number> {
  const ids = await lockOwnerPosts(tx, ownerId)
  if (ids.length > 0) await archiveOwnerPosts(tx, { ownerId, ids })
  return ids.length
}

/**
 * Brings back some hundreds of the posts that a returning user had when leaving. `restoreLikes` brings back the likes of
 * posts by their ids. Returns how many came back.
 */
export async function restorePostsOf(
  tx: Queryable,
  ownerId: string,
  restoreLikes: (ids: string[]) => Promise<void>,
): Promise<number> {
  const ids = await lockLeftPosts(tx, ownerId)
  if (ids.length > 0) {
    await restoreLikes(ids)
    await restoreOwnerPosts(tx, { ownerId, ids })
  }
  return ids.length
}
