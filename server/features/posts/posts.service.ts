import { sql } from 'kysely'
import type { Post } from '../../../contract/posts.ts'
import { parsePostText } from '../../../contract/text.ts'
import { type Db, idArray, isRowId, type Queryable } from '../../kernel/db/database.ts'
import { AppError } from '../../kernel/errors/app-error.ts'
import { addJob } from '../../kernel/queue/queue.ts'
import {
  deletePosts,
  type Hiding,
  type LockedPost,
  lockPosts,
  lockPostsOf,
  setHidden,
} from './hidden-posts.repository.ts'
import { hydratePost, hydratePosts, type PostViewer } from './hydrate-posts.ts'
import { type Edit, eraseText, selectEdited, selectOwner, updateText } from './posts.repository.ts'

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

/** Locks a post, visible or hidden, until the transaction ends. Returns undefined where there is none. */
export async function lockPost(tx: Queryable, id: string): Promise<LockedPost | undefined> {
  return (await lockPosts(tx, [id]))[0]
}

type Deletion = {
  id: string
  ownerId: string
  /** For how many days a post stays as evidence, and whether one is. */
  evidenceDays: number
  isEvidence: (tx: Queryable, id: string) => Promise<boolean>
}

/**
 * Deletes one's own post. A post that is evidence stays hidden for so many days; any other is gone for good, and
 * where it has many likes, the job `move-likes` removes them and the empty post. `note` is called in the same transaction. Throws
 * POST_NOT_FOUND when the owner has no such post.
 */
export async function deletePost(
  db: Db,
  { id, ownerId, evidenceDays, isEvidence }: Deletion,
  note: (tx: Queryable) => Promise<void> | undefined,
): Promise<void> {
  await db.transaction().execute(async (tx) => {
    const post = isRowId(id) ? await lockPost(tx, id) : undefined
    if (post?.owner_id !== ownerId || post.hidden_for !== null) throw new AppError('POST_NOT_FOUND')
    const isKept = await isEvidence(tx, id)
    if (isKept || post.has_many_likes) {
      const days = isKept ? evidenceDays : 0
      await hidePosts(tx, [id], { why: 'deleted', reason: null, by: 'author', days })
      if (!isKept) await eraseText(tx, id)
    } else await deletePosts(tx, [id])
    await note(tx)
  })
}

/** Hides locked posts. Where they have very many likes, a job lets these follow. */
export async function hidePosts(tx: Queryable, ids: string[], hiding: Hiding): Promise<void> {
  await queueLikes(tx, await setHidden(tx, ids, hiding))
}

/** Shows locked posts again, likewise. */
async function showPosts(tx: Queryable, ids: string[]): Promise<void> {
  await queueLikes(tx, await setHidden(tx, ids, null))
}

async function queueLikes(tx: Queryable, { areLikesLeft }: { areLikesLeft: boolean }) {
  if (areLikesLeft) await addJob(tx, 'move-likes', { payload: {} })
}

const LEFT: Hiding = { why: 'left', reason: null, by: 'vslukh', days: null }

/** Hides the newest posts of a user who has left, some hundreds. Returns false when there is none. */
export async function hidePostsOf(tx: Queryable, ownerId: string): Promise<boolean> {
  const ids = await lockPostsOf(tx, ownerId, 'visible')
  if (ids.length > 0) await hidePosts(tx, ids, LEFT)
  return ids.length > 0
}

/** Shows posts again that a returning user had when leaving, likewise. */
export async function showPostsOf(tx: Queryable, ownerId: string): Promise<boolean> {
  const ids = await lockPostsOf(tx, ownerId, 'left')
  if (ids.length > 0) await showPosts(tx, ids)
  return ids.length > 0
}

/** Shows a locked post again. Returns false where it is visible already, or deleted by its author. */
export async function showPost(
  tx: Queryable,
  { id, hidden_for }: Pick<LockedPost, 'id' | 'hidden_for'>,
): Promise<boolean> {
  if (hidden_for === null || hidden_for === 'deleted') return false
  await showPosts(tx, [id])
  return true
}
