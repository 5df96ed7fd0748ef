import { sql } from 'kysely'
import type { Post } from '../../contract/posts.ts'
import { parsePostText } from '../../contract/text.ts'
import { type Db, idArray, isRowId, type Queryable } from '../db/database.ts'
import { AppError } from '../http/app-error.ts'
import { addJob } from '../queue/queue.ts'
import {
  type Archive,
  deleteExpired,
  findExpired,
  lockArchived,
  markRestoring,
  putBack,
  selectRestoring,
  updateArchived,
} from './archive.repository.ts'
import { hydratePost, hydratePosts, type PostViewer } from './hydrate-posts.ts'
import {
  archiveOwnerPosts,
  findLeftPost,
  lockLeftPosts,
  lockOwnerPosts,
  restoreOwnerPosts,
  selectMovable,
} from './owner-posts.repository.ts'
import { readPostList, repliesOf, repliesTo } from './post-lists.ts'
import { lockReplied } from './post-locks.ts'
import {
  type Edit,
  lockToRemove,
  removePost,
  selectEdited,
  selectOwner,
  updateText,
} from './posts.repository.ts'

// Other features call these as they are.
export {
  type Archive,
  deleteExpired,
  findExpired,
  findLeftPost,
  lockArchived,
  lockReplied,
  lockToRemove,
  markRestoring,
  putBack,
  readPostList,
  repliesOf,
  repliesTo,
  selectRestoring,
  updateArchived,
}

/** A post as `viewer` sees it. Throws POST_NOT_FOUND when there is no such post. */
export async function requirePost(db: Queryable, id: string, viewer: PostViewer): Promise<Post> {
  const post = isRowId(id) ? await hydratePost(db, id, viewer) : undefined
  if (!post) throw new AppError('POST_NOT_FOUND')
  return post
}

/** Reads some posts as any visitor sees them, by ascending id. Those that are gone are left out. */
export async function readPosts(db: Queryable, ids: string[]): Promise<Post[]> {
  const page = sql`SELECT id, -id AS key FROM unnest(${idArray(ids)}::bigint[]) id`
  const { rows } = await hydratePosts(db, { page, total: sql`0` }, null)
  return rows.flatMap(({ post }) => post ?? [])
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
 * post has more of them than one transaction can remove within its time limit. A post with open reports is archived as
 * evidence for so many days. `note` is called in the same transaction. Throws POST_NOT_FOUND when the owner has no such post.
 */
export async function deletePost(
  db: Db,
  { id, ownerId, evidenceDays }: { id: string; ownerId: string; evidenceDays: number },
  note: (tx: Queryable) => Promise<void> | undefined,
): Promise<void> {
  await db.transaction().execute(async (tx) => {
    const isOwn = isRowId(id) && (await lockToRemove(tx, id, ownerId))
    if (!isOwn) throw new AppError('POST_NOT_FOUND')
    const archive: Archive = { why: 'deleted', reason: null, by: 'author', days: evidenceDays }
    const { hasLikes } = await removePost(tx, { id, archive, isEvidence: true })
    if (hasLikes) await addJob(tx, 'remove-likes', { payload: {} })
    await note(tx)
  })
}

/** Likes stay where they are for this time after a post was archived, so that an undo need not bring them back. */
const LIKES_STAY_MS = 15_000

/**
 * Moves a post from every screen into the archive, with its likes: their rows follow in steps. Returns false when there is no
 * such post.
 */
export async function archivePost(tx: Queryable, id: string, archive: Archive): Promise<boolean> {
  if (!(await lockToRemove(tx, id))) return false
  const { hasLikes } = await removePost(tx, { id, archive, isEvidence: false })
  if (hasLikes) await addJob(tx, 'remove-likes', { payload: {}, afterMs: LIKES_STAY_MS + 1000 })
  return true
}

/**
 * Moves some hundreds of the newest posts of a user who has left into the archive. `archiveLikes` moves the likes of posts by
 * their ids; those of posts with very many likes are left to the job `remove-likes`. Returns how many posts moved: none when there are no more.
 */
export async function archivePostsOf(
  tx: Queryable,
  ownerId: string,
  archiveLikes: (ids: string[]) => Promise<void>,
): Promise<number> {
  const { ids, withLikes } = await selectMovable(tx, await lockOwnerPosts(tx, ownerId))
  if (ids.length === 0) return 0
  await archiveLikes(withLikes)
  await archiveOwnerPosts(tx, { ownerId, ids })
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
