import { namesIn } from '../../../contract/mention-rules.ts'
import { EMPTY_POST_BODY } from '../../../contract/post-rules.ts'
import type { Post, PostBody } from '../../../contract/posts.ts'
import { parsePostText } from '../../../contract/text.ts'
import { type Db, isRowId, type Queryable } from '../../kernel/db/database.ts'
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
import { requirePost } from './hydrate-posts.ts'
import {
  type Edit,
  editMentions,
  eraseText,
  isReported,
  lockForEdit,
  storeEdit,
} from './posts.repository.ts'

/** Returns a body as it is stored. Throws INVALID_REQUEST if its text is not valid. */
export function requireValidBody(body: PostBody): Required<PostBody> {
  const text = parsePostText(body.text)
  if (text === null) {
    throw new AppError('INVALID_REQUEST', {
      message: 'Текст записи — от 1 до 500 видимых символов',
    })
  }
  return { ...EMPTY_POST_BODY, ...body, text }
}

/**
 * Edits a post. `chargeNames` is called with how many names the edit adds. Returns the post, and the ids of the users
 * who are told of a mention. Throws POST_NOT_FOUND, EDIT_PERIOD_EXPIRED, or INVALID_REQUEST if the text is the same.
 */
export async function editPost(
  db: Db,
  edit: Edit,
  chargeNames: (tx: Queryable, added: number) => Promise<void>,
): Promise<{ post: Post; told: string[] }> {
  if (!isRowId(edit.id)) throw new AppError('POST_NOT_FOUND')
  return db.transaction().execute(async (tx) => {
    const post = await lockForEdit(tx, edit)
    if (!post) throw new AppError('POST_NOT_FOUND')
    if (post.is_late) throw new AppError('EDIT_PERIOD_EXPIRED')
    if (post.is_same) throw new AppError('INVALID_REQUEST', { message: 'Текст не изменился' })
    const before = namesIn(post.text)
    const after = namesIn(edit.written.text)
    await storeEdit(tx, edit)
    await chargeNames(tx, after.filter((name) => !before.includes(name)).length)
    const hasNames = before.length > 0 || after.length > 0
    const told = hasNames ? await editMentions(tx, edit.id, after) : []
    return { post: await requirePost(tx, edit.id, { userId: edit.ownerId }), told }
  })
}

export async function lockPost(tx: Queryable, id: string): Promise<LockedPost | undefined> {
  return isRowId(id) ? (await lockPosts(tx, [id]))[0] : undefined
}

/** The job `purge-posts` erases a post with more likes, in short steps. */
const LIKES_AT_ONCE = 500

/**
 * Deletes a visible post for its author. A job deletes one with many likes; a reported one stays
 * hidden as evidence. Throws POST_NOT_FOUND.
 */
export async function deletePost(
  tx: Queryable,
  { id, ownerId, evidenceDays }: { id: string; ownerId: string; evidenceDays: number },
): Promise<void> {
  const post = await lockPost(tx, id)
  if (post?.owner_id !== ownerId || post.hidden_for !== null) throw new AppError('POST_NOT_FOUND')
  const isKept = await isReported(tx, id)
  if (!isKept && post.likes_count <= LIKES_AT_ONCE) return deletePosts(tx, [id])
  const days = isKept ? evidenceDays : 0
  await setHidden(tx, [id], { why: 'deleted', reason: null, by: 'author', days })
  if (isKept) return
  await eraseText(tx, id)
  await addJob(tx, 'purge-posts')
}

const LEFT: Hiding = { why: 'left', reason: null, by: 'vslukh', days: null }

/** Hides the next posts of a user who has left, or shows them again. Returns false at the end. */
export async function setPostsLeft(
  tx: Queryable,
  ownerId: string,
  hasLeft: boolean,
): Promise<boolean> {
  const ids = await lockPostsOf(tx, ownerId, hasLeft ? 'visible' : 'left')
  if (ids.length > 0) await setHidden(tx, ids, hasLeft ? LEFT : null)
  return ids.length > 0
}
